import Glibc
import PosixKit
import TestSupport
import Testing

/// Several machines share one download through an ordinary caching proxy (Documentation/Recipes.md).
@Suite(
  .enabled(if: HouseholdProxy.isAvailable && TLSFront.isAvailable, "squid-openssl or nginx is not installed"))
struct HouseholdProxyTests {
  @Test(arguments: ["http", "https"]) func threeHomesAskTheHostOnce(scheme: String) throws {
    let fixture = try MountFixture(size: 3_000_000)
    let front = try TLSFront(before: fixture.origin)
    if scheme == "https" {
      fixture.publish(count: 3) { feed, origin in
        for index in feed.items.indices {
          feed.items[index].url = feed.items[index].url.replacing(origin.address, with: front.address)
        }
      }
    }
    let proxy = try HouseholdProxy(trusting: scheme == "https" ? front.authority.file : nil)
    let options = "min_free=0,proxy=\(proxy.address)" + (proxy.authority.map { ",ca_file=\($0)" } ?? "")
    let expected = try fixture.environment.home.write("expected", fixture.bodies[0].bytes)
    for home in 0..<3 {
      let environment = try TestEnvironment(["PODCASTFS_SEARCH_URL": fixture.directory.url])
      let mount = environment.home.path("mnt")
      mkdir(mount, 0o755)
      let mounted = try Products.run("podcastfs", ["mount", "-o", options, mount], in: environment)
      try #require(mounted.end == .exit(0), "\(mounted.errors)")
      defer { _ = try? Products.run("podcastfs", ["unmount", "--lazy", mount], in: environment) }
      let refused = errnoOf { mkdir("\(mount)/Search/harbour", 0o755) }
      try #require(refused == nil, "\(proxy.log)")
      let episode = "\(mount)/Search/harbour/\(MountFixture.podcast)/\(MountFixture.names[0])"
      // A seek first: the proxy fetches the whole all the same.
      let tail = try RunningProcess("tail", ["-c", "100000", episode], environment: environment.variables)
      #expect(tail.wait() == .exit(0), "home \(home): \(tail.errors)")
      let compared = try RunningProcess("cmp", [episode, expected], environment: environment.variables)
      #expect(compared.wait() == .exit(0), "home \(home): \(compared.output)\(compared.errors)")
    }
    #expect(fixture.origin.requests("/1.mp3").count == 1, "\(fixture.origin.requests("/1.mp3").map(\.range))")
    #expect(fixture.origin.sent("/1.mp3") == 3_000_000)
  }
}
