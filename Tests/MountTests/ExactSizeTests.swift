import Glibc
import PosixKit
import TestSupport
import Testing

/// Readers of episodes that turn out shorter than the estimate.
@Suite struct ExactSizeTests {
  @Test func noReaderGetsZerosBehindTheTrueEnd() throws {
    let fixture = try MountFixture()
    let bodies = (0..<60).map { TestBody(seed: UInt64($0 + 100), size: 70_000) }
    for (i, body) in bodies.enumerated() { fixture.origin.serve("/r\(i).mp3", OriginResource(body)) }
    fixture.publish(count: 3) { feed, origin in
      feed.items = bodies.indices.map { i in
        TestFeed.Item("R \(100 + i)", url: origin.url("/r\(i).mp3"), guid: "r\(i)", published: 1_704_067_200)
      }
    }
    try fixture.mount()
    try fixture.makeSearch()
    var bad: [String] = []
    for (i, name) in try fixture.list(fixture.podcastPath).enumerated() {
      let bytes = try Directories.read("\(fixture.podcastPath)/\(name)", limit: 64 << 20)
      if bytes != bodies[i].bytes { bad.append("\(name): \(bytes.count)") }
    }
    #expect(bad.isEmpty, "\(bad.count): \(bad.prefix(5))")
  }
}
