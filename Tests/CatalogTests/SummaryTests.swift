import Catalog
import FeedKit
import PodcastModel
import Testing

/// What directories show of episodes.
@Suite struct SummaryTests {
  @Test(arguments: corpusFeeds)
  func itIsTheSameAsOfTheWholeEpisodes(_ name: String) throws {
    let world = try CatalogWorld()
    world.web.set("/feed", try FakeWeb.Page(corpus: name))
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    let other = try world.open()
    defer { other.close() }
    let fresh = try world.catalog.listedEpisodes(ofPodcast: podcast) { $0 }
    #expect(!fresh.isEmpty)
    #expect(try other.listedEpisodes(ofPodcast: podcast) { $0 } == fresh)
    for (episode, listed) in zip(try other.episodes(ofPodcast: podcast), fresh) {
      var rest = episode
      (rest.title, rest.isDated) = (listed.title, listed.isDated)
      (rest.enclosureURL, rest.guid, rest.link) = (listed.enclosureURL, listed.guid, listed.link)
      (rest.imageURL, rest.explicit) = (listed.imageURL, listed.explicit)
      rest.episode = listed.episode
      #expect(rest == listed)
    }
  }

  @Test func aMarkOfAnotherProcessShowsAtOnce() throws {
    let world = try CatalogWorld()
    var feed = TestFeed()
    feed.items = (0..<2500).map { TestFeed.Item("Episode \($0)", guid: "\($0)") }
    world.web.set("/feed", feed.page)
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    let episodes = try world.catalog.listedEpisodes(ofPodcast: podcast) { $0 }
    #expect(episodes.count == 2500 && !episodes.contains(where: \.hidden))
    let other = try world.open()
    defer { other.close() }
    try other.setHidden(true, episode: episodes[1200].id)
    let hidden = try world.catalog.listedEpisodes(ofPodcast: podcast) { $0 }.filter(\.hidden)
    #expect(hidden.map(\.id) == [episodes[1200].id])
  }

  @Test func whatComesLaterIsAmongThem() throws {
    let world = try CatalogWorld()
    var feed = TestFeed()
    feed.items = [.init("First", guid: "1")]
    world.web.set("/feed", feed.page)
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    feed.items.append(.init("Second", guid: "2"))
    world.web.set("/feed", feed.page)
    try world.refresh(podcast)
    #expect(try world.catalog.listedEpisodes(ofPodcast: podcast) { $0 }.count == 2)
  }
}
