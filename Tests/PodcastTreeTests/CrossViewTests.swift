import PodcastModel
import Testing

@testable import PodcastTree

@Suite struct CrossViewTests {
  private func episode(_ podcast: Int64, _ name: String) -> KnownEpisode {
    let address = WebAddress("http://media.example/\(podcast).mp3")
    let record = Podcast(id: podcast, feedURL: "http://feeds.example/", title: name, name: name)
    let episode = Episode(
      id: podcast << 20 | 1, podcastID: podcast, mediaKey: MediaKey(address: address),
      stem: "2024-01-01 - One",
      fileExtension: ".mp3", title: "One", published: 0, enclosureURL: address)
    return KnownEpisode(EpisodeEntry(episode: episode, podcast: record), [])
  }

  /// Their podcasts' names may differ only behind the place where they are cut.
  @Test func episodesOfTheSameNameAreNumbered() throws {
    let (first, second) = (episode(1, "Harbour"), episode(2, "Harbour"))
    var view = CrossView()
    view.insert(first)
    let name = try #require(view.name(of: first.episode.id))
    #expect(name.hasSuffix(" - One.mp3"))
    view.insert(second)
    #expect(view.name(of: second.episode.id) == name.dropLast(4) + " (2).mp3")
    view.insert(first)
    #expect(view.name(of: first.episode.id) == name && view.items.count == 2)
    view.remove(first.episode.id)
    view.insert(second)
    #expect(view.name(of: second.episode.id) == name)
  }
}
