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

  /// Nor does it become zeros where the other one is found damaged and comes again.
  @Test func whatIsLetGoOfUnderOneAddressStaysUnderTheOther() throws {
    let body = TestBody(seed: 62, size: 2_300_000)
    try store(body, world.key)
    try store(body, other)
    #expect(try world.layout.share(other, 1, with: world.key, 1))
    let writer = try EpisodeWriter(continuing: world.layout, world.key, 1)
    try writer.discard([0..<1 << 20])
    #expect(!writer.present.contains(0..<4096))
    #expect(world.read(try EpisodeReader(world.layout, other, 1), 0..<body.size) == body.bytes)
  }

  @Test func theMarkIsThatOfEqualBytes() throws {
    func mark(_ body: TestBody, _ key: MediaKey) throws -> AudioMark? {
      try store(body, key)
      return RangeJournal(reading: world.layout.journal(key, 1)).mark
    }
    let body = TestBody(seed: 61, size: 2_300_000)
    let first = try #require(try mark(body, world.key))
    #expect(first.total == body.size)
    #expect(try mark(body, other) == first)
    let third = MediaKey(address: "http://mirror.example.org/b.mp3")
    #expect(try mark(TestBody(seed: 62, size: 2_300_000), third) != first)
    let part = try EpisodeWriter(creating: world.layout, other, 2, CacheWorld.representation(body.size))
    try world.write(body, 0..<1_500_000, part)
    try part.synchronize()
    #expect(RangeJournal(reading: world.layout.journal(other, 2)).mark == nil)
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

  /// A process that is being started has all that this one has open, until it has its program.
  @Test func whoIsDoneHoldsNothingThoughAProcessIsJustBeingStarted() throws {
    let body = TestBody(seed: 61, size: 300_000)
    try store(body, world.key)
    let fifo = world.directory.path("fifo")
    try #require(mkfifo(fifo, 0o600) == 0)
    var reader: EpisodeReader? = try EpisodeReader(world.layout, world.key, 1)
    #expect(reader?.isWhole == true)
    let child = Monitor<Int32?>(nil)
    PosixThread.start("spawn") {
      // Opens the fifo between fork and exec, and waits there for a writer.
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      posix_spawn_file_actions_addopen(&actions, 0, fifo, O_RDONLY, 0)
      var id: Int32 = 0
      let program = strdup("/bin/true")
      var arguments: [UnsafeMutablePointer<CChar>?] = [program, nil]
      let status = posix_spawn(&id, "/bin/true", &actions, nil, &arguments, nil)
      posix_spawn_file_actions_destroy(&actions)
      free(program)
      child.withLockNotifying { $0 = status == 0 ? id : 0 }
    }
    #expect(eventually { Self.isHeldByAChild(world.layout.data(world.key, 1)) })
    reader = nil
    #expect(world.layout.evict(world.key, 1))
    _ = try FileDescriptor(opening: fifo, O_WRONLY)
    let id = try #require(child.wait(until: .after(patience)) { $0 })
    #expect(id > 0)
    waitpid(id, nil, 0)
  }

  private static func isHeldByAChild(_ path: String) -> Bool {
    let children = ((try? Directories.names(in: "/proc")) ?? []).filter { name in
      guard let bytes = try? Directories.read("/proc/\(name)/stat") else { return false }
      // Behind the name in parentheses: the state, and whose child it is.
      let rest = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
      return rest.map { $0.count > 1 && $0[1] == "\(getpid())" } ?? false
    }
    return children.contains { child in
      let files = (try? Directories.names(in: "/proc/\(child)/fd")) ?? []
      return files.contains { file in
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/\(child)/fd/\(file)", &target, target.count - 1)
        return length > 0 && String(decoding: target.prefix(length).map(UInt8.init), as: UTF8.self) == path
      }
    }
  }
}
