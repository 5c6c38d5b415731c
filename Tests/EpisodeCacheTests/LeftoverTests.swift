import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Files that a killed daemon was about to put in the place of others: they hold secret addresses.
@Suite struct LeftoverTests {
  let world: CacheWorld
  let body = TestBody(seed: 7, size: 100_000)

  init() throws {
    world = try CacheWorld()
    try world.store(body)
  }

  private func leave() throws -> String {
    let journal = world.layout.journal(world.key, 1)
    try Directories.replace(journal + ".new", with: try Directories.read(journal))
    return journal + ".new"
  }

  @Test func theyGoWithTheEpisode() throws {
    let left = try leave()
    world.layout.drop(world.key, 1)
    #expect(access(left, F_OK) != 0)
  }

  @Test func theyGoWhenADaemonBegins() throws {
    let left = try leave()
    world.layout.removeLeftovers()
    #expect(access(left, F_OK) != 0)
    #expect(access(world.layout.journal(world.key, 1), F_OK) == 0)
  }

  /// Where the runtime folder is full, that is told apart from a full cache.
  @Test(.enabled(if: geteuid() == 0)) func aFullRuntimeFolderIsNamed() throws {
    #expect(mount("tmpfs", world.layout.maps, "tmpfs", 0, "size=8k,mode=0700") == 0)
    defer { umount2(world.layout.maps, Int32(MNT_DETACH)) }
    let other = MediaKey(address: "http://example.org/b.mp3")
    let writer = try EpisodeWriter(creating: world.layout, other, 1, CacheWorld.representation(nil))
    try world.write(body, 0..<4096, writer)
    #expect(!writer.lacksRuntimeRoom)
    let far: Int64 = 200 << 20
    let failure = #expect(throws: PosixError.self) {
      try body.bytes(0..<4096).withUnsafeBytes { try writer.write($0, at: far) }
    }
    #expect(failure?.errno == .ENOSPC && writer.lacksRuntimeRoom)
  }
}
