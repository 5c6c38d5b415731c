import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// What a refresh makes of answers that are none, or not what they say.
@Suite struct FailureTests {
  private static let one = TestFeed(items: [.init("One", guid: "1")])

  @Test(arguments: [(404, Errno.ENOENT), (410, .ENOENT), (403, .EACCES), (500, .EIO)])
  func `A status is the answer also where its page breaks off`(status: Int, errno: Errno) throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    var page = FakeWeb.Page(status: status, body: Array("not here, said at length".utf8))
    page.cut = 3
    world.web.set("/feed", page)
    let error = #expect(throws: CatalogError.self) { try world.refresh(podcast) }
    #expect(error?.errno == errno && error?.message.contains("HTTP \(status)") == true)
    #expect(try world.file().exists("SELECT 1 FROM feed WHERE is_away = 0"), "the network is not to blame")
  }

  @Test func `A look soon after a failure tries again`() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    #expect(throws: CatalogError.self) { try world.refresh(podcast, .firstLook) }
    world.web.set("/feed", Self.one.page)
    #expect(eventually { (try? world.refresh(podcast, .firstLook))?.newEpisodes.count == 1 })
  }

  @Test func `What a person asks for is asked for whole`() throws {
    let world = try CatalogWorld()
    let feed = Monitor(Self.one)
    // A server that says 304 whatever it is asked.
    world.web.set("/feed") { request in
      var page = feed.withLock { $0 }.page
      page.headers.append(("ETag", "\"const\""))
      return request.header("if-none-match") == nil ? page : FakeWeb.Page(status: 304)
    }
    let podcast = try world.podcast()
    try world.refresh(podcast)
    feed.withLock { $0.items.append(.init("Two", guid: "2")) }
    #expect(try world.refresh(podcast).newEpisodes.count == 1)
    // By itself it sends its validators.
    #expect(try world.refreshWhenDue(podcast) == .unchanged)
    #expect(world.web.requests("/feed").last?.header("if-none-match") == "\"const\"")
  }

  @Test func `A feed that a command subscribes to is fetched once beside a mount`() throws {
    let world = try CatalogWorld()
    let command = try world.open()
    defer { command.close() }
    world.catalog.startScheduler()
    for number in 0..<24 {
      world.web.set("/\(number)", TestFeed(items: TestFeed.items(0..<300)).page)
      _ = try wait { command.subscribe(address: "\(world.web.address)/\(number)", completion: $0) }
    }
    #expect(try eventually { try world.catalog.subscriptions().allSatisfy { $0.podcast.isFetched } })
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    for number in 0..<24 { #expect(world.web.requests("/\(number)").count == 1) }
  }
}
