import HTTPServerKit
import PosixKit
import TestSupport
import Testing

/// `podcastfs refresh`, as it is called.
@Suite struct RefreshTests {
  @Test func `Feeds of one host do not wait for each other`() throws {
    let environment = try TestEnvironment()
    let waiting = Monitor(0)
    let feed = TestFeed("Lights", items: [TestFeed.Item("One", url: "https://h/1.mp3", guid: "1")]).xml
    let isRefreshing = Monitor(false)
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      if isRefreshing.withLock({ $0 }) {
        // Answers nobody until four ask at the same time.
        waiting.withLockNotifying { $0 += 1 }
        _ = waiting.wait(until: .after(patience)) { $0 >= 4 ? true : nil }
      }
      let body = feed.replacing("Lights", with: "Lights \(request.path.dropFirst())")
      try writer.respond(200, [("Content-Type", "application/rss+xml")], body: Array(body.utf8))
    }
    defer { server.stop() }
    let addresses = (0..<4).map { "\(server.address)/\($0)" }
    let subscribed = try Products.run("podcastfs", ["subscribe"] + addresses, in: environment)
    #expect(subscribed.end == .exit(0), "\(subscribed.errors)")
    isRefreshing.withLock { $0 = true }
    let refreshed = try Products.run("podcastfs", ["refresh"], in: environment)
    #expect(refreshed.end == .exit(0), "\(refreshed.errors)")
    #expect(
      refreshed.output.split(separator: "\n").sorted() == (0..<4).map { "Lights \($0): 0 new" })
  }
}
