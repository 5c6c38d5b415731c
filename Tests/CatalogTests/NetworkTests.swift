import Catalog
import Configuration
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Whether the world can be reached at all, by what the kernel says.
@Suite struct NetworkTests {
  private static let marker = "PODCASTFS_TEST_OWN_FEED_NETWORK"
  private static let isInside = Places.processEnvironment[marker] != nil

  /// Whether this user may have a network of its own here.
  private static let isPossible =
    Products.isInstalled("ip") && (try? ChildProcess.run(["unshare", "--net", "true"]))?.status == 0

  /// The test runs itself again, in the other network.
  @Test(.enabled(if: isPossible && !isInside, "a network of its own takes root and iproute2"))
  func feedsAreAskedForAgainWhenTheNetworkIsBack() throws {
    var environment = Places.processEnvironment
    environment[Self.marker] = "1"
    let inner = try RunningProcess(
      "unshare",
      [
        "--net", Products.path("podcastfsPackageTests.xctest"), "--testing-library", "swift-testing",
        "--filter", "CatalogTests.NetworkTests/inANetworkOfItsOwn",
      ], environment: environment)
    #expect(inner.wait(seconds: 120) == .exit(0), "\(inner.errors)")
    let story = inner.output + inner.errors
    #expect(story.contains("inANetworkOfItsOwn() passed"), "\(story)")
  }

  @Test(.enabled(if: isInside, "part of the test above")) func inANetworkOfItsOwn() throws {
    try run("link", "set", "lo", "up")
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(title: "Lights", items: [.init("One", guid: "1")]).page)
    let away = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed")
    let blocked = try world.catalog.subscribe(feedURL: "http://127.0.0.1:9/feed")
    // One that no port is open for may be the network's fault, too; its next time is an hour away.
    #expect(throws: CatalogError.self) { try world.refresh(blocked.podcast.id) }
    try run("addr", "del", "127.0.0.1/8", "dev", "lo")
    let error = #expect(throws: CatalogError.self) { try world.refresh(away.podcast.id) }
    #expect(error?.errno == .ENETUNREACH)
    world.catalog.startScheduler()
    let failed = try #require(try world.catalog.podcast(blocked.podcast.id)?.nextRefresh)
    #expect(failed >= wallClockSeconds() + 3000)
    // Another network: an address, and a way into the world.
    try run("addr", "add", "127.0.0.1/8", "dev", "lo")
    try run("addr", "add", "198.18.0.2/24", "dev", "lo")
    try run("route", "add", "default", "dev", "lo")
    #expect(try eventually { try world.catalog.podcast(away.podcast.id)?.isFetched == true })
    #expect(
      try eventually {
        try world.catalog.podcast(blocked.podcast.id)?.nextRefresh.map { $0 > failed } == true
      })
  }

  private func run(_ arguments: String...) throws {
    let result = try ChildProcess.run(["ip"] + arguments)
    #expect(result.status == 0, "ip \(arguments)")
  }
}
