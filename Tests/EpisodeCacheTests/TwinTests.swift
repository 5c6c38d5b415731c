import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// The same audio under two addresses is kept once.
@Suite struct TwinTests {
  let world: CacheWorld
  let other = MediaKey(address: "http://mirror.example.org/a.mp3")

  init() throws { world = try CacheWorld() }

  private func store(_ body: TestBody, _ key: MediaKey) throws {
    let writer = try EpisodeWriter(creating: world.layout, key, 1, CacheWorld.representation(body.size))
    try world.write(body, 0..<body.size, writer)
    try writer.synchronize()
    writer.removeMap()
  }

  private func inode(_ key: MediaKey) -> UInt64 {
    var status = stat()
    stat(world.layout.data(key, 1), &status)
    return UInt64(status.st_ino)
  }

  @Test func equalBytesAreKeptOnceAndReadUnderBoth() throws {
    let body = TestBody(seed: 61, size: 2_300_000)
    try store(body, world.key)
    try store(body, other)
    #expect(try world.layout.share(other, 1, with: world.key, 1))
    #expect(inode(world.key) == inode(other))
    for key in [world.key, other] {
      let reader = try EpisodeReader(world.layout, key, 1)
      #expect(world.read(reader, 0..<body.size) == body.bytes)
    }
    #expect(try world.layout.share(other, 1, with: world.key, 1))
    // One of them goes, the other stays.
    #expect(world.layout.evict(world.key, 1))
    #expect(world.read(try EpisodeReader(world.layout, other, 1), 0..<100_000) == body.bytes(0..<100_000))
    #expect(try EpisodeWriter(continuing: world.layout, other, 1).isComplete)
  }

  @Test func otherBytesAreNot() throws {
    try store(TestBody(seed: 61, size: 1_300_000), world.key)
    try store(TestBody(seed: 62, size: 1_300_000), other)
    #expect(try !world.layout.share(other, 1, with: world.key, 1))
    #expect(inode(world.key) != inode(other))
  }

  /// The journals agree, the bytes do not: rot, or somebody's forgery of a sum.
  @Test func aSumIsNoProof() throws {
    let body = TestBody(seed: 61, size: 1_300_000)
    try store(body, world.key)
    try store(body, other)
    try world.damage(world.layout.data(world.key, 1), at: 1_000_000)
    #expect(try !world.layout.share(other, 1, with: world.key, 1))
    #expect(world.read(try EpisodeReader(world.layout, other, 1), 0..<body.size) == body.bytes)
  }

  @Test func whatSomebodyReadsIsLeftAlone() throws {
    let body = TestBody(seed: 61, size: 1_300_000)
    try store(body, world.key)
    try store(body, other)
    let reader = try EpisodeReader(world.layout, other, 1)
    #expect(try !world.layout.share(other, 1, with: world.key, 1))
    #expect(world.read(reader, 0..<100) == body.bytes(0..<100))
  }
}
