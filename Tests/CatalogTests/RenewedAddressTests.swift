import Catalog
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Private feeds whose token is renewed.
@Suite struct RenewedAddressTests {
  private static let old = "/private/0000000000/members"
  private static let new = "/private/1111111111/members"

  private func subscribe(_ world: CatalogWorld, _ path: String) throws -> ListedPodcast {
    try wait { world.catalog.subscribe(address: world.web.address + path, completion: $0) }
  }

  /// Signed by the token, as such hosts do.
  private func items(_ numbers: Range<Int>, token: String, guid: String = "g") -> [TestFeed.Item] {
    numbers.map {
      TestFeed.Item(
        "Episode \($0)", guid: "\(guid)\($0)", url: "http://m.example/\(token)/\(guid)\($0).mp3",
        date: "Wed, \($0 + 1) Jan 2020 10:00:00 GMT")
    }
  }

  @Test func `Subscribing again with a new token renews the address`() throws {
    let world = try CatalogWorld()
    world.web.set(Self.old, TestFeed(title: "Members", items: items(0..<6, token: "a")).page)
    let first = try subscribe(world, Self.old)
    let before = try world.catalog.episodes(ofPodcast: first.podcast.id)
    try world.catalog.setPlayed(true, episode: before[0].id)
    world.web.set(Self.old, FakeWeb.Page(status: 403))
    world.web.set(Self.new, TestFeed(title: "Members", items: items(0..<7, token: "b")).page)
    let second = try subscribe(world, Self.new)
    #expect(second.id == first.id && second.name == "Members")
    #expect(try world.catalog.subscriptions().count == 1)
    let after = try world.catalog.episodes(ofPodcast: first.podcast.id)
    #expect(after.count == 7 && after.prefix(6).map(\.id) == before.map(\.id) && after[0].played)
    #expect(after.map(\.stem).prefix(6) == before.map(\.stem).prefix(6))
    #expect(after[0].enclosureURL == "http://m.example/b/g0.mp3")
    #expect(try world.catalog.podcast(first.podcast.id)?.feedURL == WebAddress(world.web.address + Self.new))
  }

  @Test func `Another show of the host is another subscription`() throws {
    let world = try CatalogWorld()
    world.web.set(Self.old, TestFeed(title: "Members", items: items(0..<6, token: "a")).page)
    world.web.set(Self.new, TestFeed(title: "Others", items: items(10..<16, token: "b", guid: "x")).page)
    _ = try subscribe(world, Self.old)
    _ = try subscribe(world, Self.new)
    #expect(try world.catalog.subscriptions().map(\.name) == ["Members", "Others"])
  }

  private static let uuids = [
    "/v/9f86d081-884c-4d65-9a2f-eaa0c55ad015", "/v/2c26b46b-68ff-468f-b99b-453c1d304134",
  ]

  /// Of one show, with the same guids, at addresses that look as if only a token differed.
  @Test(arguments: [
    ("Show X (audio)", "Show X (video)", "http://m.example/a/", ".mp3", "http://m.example/a/", ".mp4"),
    ("Show X", "Show X (video)", "http://m.example/a/", ".mp3", "http://m.example/a/", ".mp4"),
    ("Show X", "Show X (video)", "http://m.example/a/", ".mp3", "http://m.example/a/", ".mp3"),
    ("Show X", "Show X", "http://m.example/a/", ".mp3", "http://m.example/a/", "-hq.mp3"),
    (
      "Show X", "Show X", "http://m.example/9f86d081-884c-4d65-9a2f-00000000000", ".mp3",
      "http://m.example/2c26b46b-68ff-468f-b99b-00000000000", ".mp4"
    ),
  ])
  func `A sister feed is another subscription`(
    title: String, sister: String, place: String, ending: String, sisterPlace: String, sisterEnding: String
  ) throws {
    func page(_ title: String, _ place: String, _ ending: String) -> FakeWeb.Page {
      var items = items(0..<7, token: "", guid: "topic")
      for number in items.indices { items[number].url = "\(place)\(number)\(ending)" }
      return TestFeed(title: title, items: items).page
    }
    let world = try CatalogWorld()
    world.web.set(Self.uuids[0], page(title, place, ending))
    world.web.set(Self.uuids[1], page(sister, sisterPlace, sisterEnding))
    let first = try subscribe(world, Self.uuids[0])
    let before = try world.catalog.episodes(ofPodcast: first.podcast.id)
    let second = try subscribe(world, Self.uuids[1])
    #expect(second.id != first.id)
    #expect(try world.catalog.subscriptions().count == 2)
    #expect(try world.catalog.episodes(ofPodcast: first.podcast.id) == before)
    let urls = try world.catalog.episodes(ofPodcast: second.podcast.id).map(\.enclosureURL.forRequest)
    #expect(urls == (0..<7).map { "\(sisterPlace)\($0)\(sisterEnding)" })
  }

  @Test(arguments: [
    (uuids[0], uuids[1]), ("/f/AAAAaaaa1111bbbb2222/rss", "/f/CCCCcccc3333dddd4444/rss"),
    ("/f/dHJ5Mm1lbWJlcnM5.xml", "/f/Zk3Q9xAb7LmNqR5t.xml"),
  ])
  func `Wherever the token is, the address is renewed`(old: String, new: String) throws {
    let world = try CatalogWorld()
    var files = items(0..<6, token: "a")
    world.web.set(old, TestFeed(title: "Members", items: files).page)
    let first = try subscribe(world, old)
    // The files' names are tokens too.
    for number in files.indices { files[number].url += "?token=\(number)" }
    world.web.set(new, TestFeed(title: "Members", items: files).page)
    #expect(try subscribe(world, new).id == first.id)
    #expect(try world.catalog.subscriptions().count == 1)
    #expect(try world.catalog.podcast(first.podcast.id)?.feedURL == WebAddress(world.web.address + new))
  }

  @Test func `A subscription takes the address that the user gives it`() throws {
    let world = try CatalogWorld()
    world.web.set("/a", TestFeed(title: "Members", items: items(0..<6, token: "a")).page)
    world.web.set("/b", TestFeed(title: "Members", items: items(0..<7, token: "b")).page)
    world.web.set("/c", TestFeed(title: "Others", items: items(20..<22, token: "c")).page)
    let listed = try subscribe(world, "/a")
    let other = try subscribe(world, "/c")
    let before = try world.catalog.episodes(ofPodcast: listed.podcast.id)
    try world.catalog.setFeedURL("\(world.web.address)/b", ofSubscription: listed.id)
    let state = try #require(try world.catalog.podcast(listed.podcast.id))
    #expect(state.feedURL == WebAddress("\(world.web.address)/b") && state.error == nil)
    try world.refresh(listed.podcast.id, .due)
    let after = try world.catalog.episodes(ofPodcast: listed.podcast.id)
    #expect(after.count == 7 && after.prefix(6).map(\.id) == before.map(\.id))
    let invalid = #expect(throws: CatalogError.self) {
      try world.catalog.setFeedURL("ftp://h.example/", ofSubscription: listed.id)
    }
    #expect(invalid?.errno == .EINVAL)
    let taken = #expect(throws: CatalogError.self) {
      try world.catalog.setFeedURL("\(world.web.address)/b", ofSubscription: other.id)
    }
    #expect(taken?.errno == .EEXIST)
  }
}
