import Catalog
import Configuration
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Whether the world can be reached at all, by what the kernel says.
@Suite struct NetworkTests {
  private let head =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

  @Test func interfacesOfContainersAndPrivateNetworksDoNotLeadToTheWorld() {
    let docker = "docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
    let wlan = "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
    let down = "wlan0\t00000000\t0101A8C0\t0002\t0\t0\t600\t00000000\t0\t0\t0\n"
    let tunnel = "tun0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000080\t0\t0\t0\n"
    #expect(!NetworkHealth.hasRoute(v4: ""))
    #expect(!NetworkHealth.hasRoute(v4: head + docker))
    #expect(NetworkHealth.hasRoute(v4: head + docker + wlan))
    #expect(!NetworkHealth.hasRoute(v4: head + down))
    #expect(NetworkHealth.hasRoute(v4: head + tunnel))
    #expect(!NetworkHealth.hasRoute(v4: head + "x y z"))
  }

  @Test func theSameForIPv6() {
    let zero = String(repeating: "0", count: 32)
    let lo = "\(zero) 00 \(zero) 00 \(zero) ffffffff 00000001 00000000 00200200       lo\n"
    let wlan =
      "\(zero) 00 \(zero) 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003    wlan0\n"
    let local =
      "fe80\(String(repeating: "0", count: 28)) 40 \(zero) 00 \(zero) 00000100 00000001 00000000 00000001    wlan0\n"
    #expect(!NetworkHealth.hasRoute(v6: lo + local))
    #expect(NetworkHealth.hasRoute(v6: lo + wlan))
  }

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
