import Catalog
import Configuration
import Directory
import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing

@Suite struct PodcastLinkTests {
  @Test(arguments: [
    (
      "https://podcasts.apple.com/us/podcast/harbour-lights/id1092957894?i=1000",
      PodcastLink.apple(1_092_957_894)
    ),
    ("podcasts.apple.com/de/podcast/id77", .apple(77)),
    ("http://itunes.apple.com/us/podcast/x/id77?mt=2", .apple(77)),
    ("https://itunes.apple.com/WebObjects/MZStore.woa/wa/viewPodcast?id=77&ign-mscache=1", .apple(77)),
    ("pcast://podcasts.apple.com/us/podcast/x/id77", .apple(77)),
    ("id:77", .apple(77)), ("https://overcast.fm/itunes77/harbour-lights", .apple(77)),
    ("https://pca.st/itunes/77", .apple(77)),
    ("https://podcastindex.org/podcast/920666", .podcastIndex(920_666)),
    (
      "https://antennapod.org/deeplink/subscribe?url=https%3A%2F%2Fh.example%2Ff%3Fa%3D1&title=x",
      .feed("https://h.example/f?a=1")
    ),
    ("https://antennapod.org/deeplink/subscribe/?url=h.example/f", .feed("h.example/f")),
    ("http://www.subscribeonandroid.com/h.example/f?a=1", .feed("h.example/f?a=1")),
    ("https://subscribeonandroid.com/https://h.example/f", .feed("https://h.example/f")),
  ])
  func linksOfDirectoriesAndPlayersAreUnderstood(_ text: String, _ link: PodcastLink) {
    #expect(PodcastLink(text) == link)
  }

  @Test(arguments: [
    "https://h.example/feed.xml", "harbour lights", "id77", "id:", "id:x",
    "https://podcasts.apple.com/us/browse",
    "https://overcast.fm/+abc", "https://pca.st/abcd", "https://podcastindex.org/stats",
    "https://antennapod.org/documentation",
    "https://www.subscribeonandroid.com/", "https://notyoutube.example/watch",
  ])
  func otherAddressesAreNoLinks(_ text: String) { #expect(PodcastLink(text) == nil) }

  @Test(arguments: [
    "https://www.youtube.com/watch?v=x", "https://youtu.be/x", "https://m.youtube.com/@someone",
    "https://music.youtube.com/playlist?list=x",
  ])
  func youTubeIsSaidNotToBeSupported(_ text: String) throws {
    let world = try CatalogWorld()
    let error = #expect(throws: CatalogError.self) {
      try wait { world.catalog.subscribe(address: text, completion: $0) }
    }
    #expect(error?.errno == .EINVAL && error?.message.contains("YouTube, which is not supported") == true)
    #expect(world.web.requestCount == 0)
  }

  private func feed(_ world: CatalogWorld, _ title: String, at path: String) {
    world.web.set(path, TestFeed(title: title, items: TestFeed.items(0..<1)).page)
  }

  @Test func anApplePageIsFollowedByItsLookup() throws {
    let world = try CatalogWorld()
    feed(world, "Harbour Lights", at: "/feed")
    world.web.set("/lookup", world.web.answer([("Harbour Lights", "/feed")]))
    let listed = try wait {
      world.catalog.subscribe(address: "https://podcasts.apple.com/us/podcast/x/id77", completion: $0)
    }
    #expect(listed.name == "Harbour Lights")
    #expect(world.web.requests("/lookup").first?.query("id") == "77")
    let found = try wait {
      world.catalog.find("https://podcasts.apple.com/us/podcast/x/id77", completion: $0)
    }
    #expect(found.podcasts.map(\.title) == ["Harbour Lights"])
  }

  @Test func aShowThatIsExclusiveToAppleIsNotFollowed() throws {
    let world = try CatalogWorld()
    world.web.set("/lookup", FakeWeb.Page(#"{"resultCount":1,"results":[{"collectionName":"Only Here"}]}"#))
    let error = #expect(throws: CatalogError.self) {
      try wait {
        world.catalog.subscribe(address: "https://podcasts.apple.com/us/podcast/x/id77", completion: $0)
      }
    }
    #expect(error?.message.contains("exclusive to Apple") == true, "\(error?.message ?? "")")
  }

  @Test func aLinkThatHoldsItsFeedIsFollowedAsThat() throws {
    let world = try CatalogWorld()
    feed(world, "Harbour Lights", at: "/feed")
    let link =
      "https://antennapod.org/deeplink/subscribe?url=\(PercentEncoding.encode(world.web.address + "/feed"))"
    let listed = try wait { world.catalog.subscribe(address: link, completion: $0) }
    #expect(
      listed.name == "Harbour Lights" && listed.podcast.feedURL.forRequest == world.web.address + "/feed")
    let count = world.web.requestCount
    // A search for it shows it, and no service hears of it.
    let found = try wait { world.catalog.find(link, completion: $0) }
    #expect(found.podcasts.map(\.title) == ["Harbour Lights"] && found.source == "feed")
    #expect(found.podcasts.map(\.episodeCount) == [1] && found.podcasts.map(\.isListed) == [false])
    #expect(world.web.requestCount == count + 1)
  }

  @Test func aSearchForAnAddressAsksThatAddressAlone() throws {
    let world = try CatalogWorld()
    feed(world, "Harbour Lights", at: "/feed")
    world.web.set(
      "/page",
      FakeWeb.Page(
        #"<html><head><link rel="alternate" type="application/rss+xml" href="/feed"></head></html>"#,
        headers: [("Content-Type", "text/html")]))
    let host = world.web.address.dropFirst("http://".count)
    for address in [
      "http://\(host)/feed", "pcast://\(host)/feed", "feed:http://\(host)/feed", "http://\(host)/page",
    ] {
      let found = try wait { world.catalog.find(address, completion: $0) }
      #expect(found.podcasts.map(\.title) == ["Harbour Lights"], "\(address)")
      #expect(found.podcasts.map(\.feedURL.forRequest) == ["http://\(host)/feed"])
    }
    #expect(throws: CatalogError.self) {
      try wait { world.catalog.find("http://\(host)/gone", completion: $0) }
    }
    let words = #expect(throws: CatalogError.self) {
      try wait { world.catalog.find("lights http://\(host)/feed", completion: $0) }
    }
    #expect(words?.errno == .EINVAL)
    #expect(world.web.requests("/search").isEmpty)
    #expect(try world.catalog.subscriptions().isEmpty)
  }

  @Test func theDirectoryKnowsTheNumbersOfItsPublisherAndOfApple() throws {
    let world = try CatalogWorld()
    feed(world, "Harbour Lights", at: "/feed")
    let page = "https://podcastindex.org/podcast/920666"
    let missing = #expect(throws: CatalogError.self) {
      try wait { world.catalog.subscribe(address: page, completion: $0) }
    }
    #expect(missing?.message.contains("podcastfs directory fetch") == true, "\(missing?.message ?? "")")
    let folder = try TemporaryDirectory()
    var dump = try PodcastIndexDump(path: folder.path("dump.db"))
    try dump.add([
      "id": 920_666, "url": world.web.address + "/feed", "title": "Harbour Lights", "itunesId": 77,
    ])
    try dump.finish()
    _ = try DirectoryImport(
      place: world.catalog.directory.place, program: Products.path("podcastfs"), minimumFree: 0
    ).run(try FileDescriptor(opening: folder.path("dump.db"), O_RDONLY), name: "dump.db")
    #expect(try wait { world.catalog.subscribe(address: page, completion: $0) }.name == "Harbour Lights")
    let again = #expect(throws: CatalogError.self) {
      try wait { world.catalog.subscribe(address: "https://pca.st/itunes/77", completion: $0) }
    }
    #expect(again == .alreadyFollowed("Harbour Lights"))
    #expect(world.web.requests("/lookup").isEmpty)
  }
}
