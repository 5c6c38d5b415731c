import Catalog
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Private feeds whose token is renewed.
@Suite struct RenewedAddressTests {
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
