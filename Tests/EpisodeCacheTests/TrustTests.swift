import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// What lies in the cache and in shared memory is believed only where it can be shown to belong together.
@Suite struct TrustTests {
  let world: CacheWorld
  let body = TestBody(seed: 8, size: 6_000_000)

  init() throws { world = try CacheWorld() }

  private var key: MediaKey { world.key }
  private var layout: CacheLayout { world.layout }

  /// A full runtime folder kills nobody, and is told apart from a full cache.
  @Test(.enabled(if: geteuid() == 0, "mounting a small disk takes root"))
  func aFullRuntimeFolderIsNamed() throws {
    #expect(mount("tmpfs", layout.maps, "tmpfs", 0, "size=12k,mode=0700") == 0)
    defer { umount2(layout.maps, Int32(MNT_DETACH)) }
    let writer = try world.writer(8192)
    let reader = try EpisodeReader(layout, key, 1)
    let other = MediaKey(address: "http://example.org/b.mp3")
    let failure = #expect(throws: PosixError.self) {
      try EpisodeWriter(creating: layout, other, 1, CacheWorld.representation(nil))
    }
    #expect(failure?.errno == .ENOMEM && !layout.hasData(other, 1))
    // All of what a map can speak of is asked for, though there is room for little of it.
    #expect(!reader.contains(0..<LiveMap.largest))
    #expect(world.read(reader, 30 << 30..<(30 << 30) + 4096) == [])
    try world.write(body, 0..<8192, writer)
    #expect(world.read(reader, 0..<8192) == body.bytes(0..<8192))
  }

  @Test func whatAFailedFlushMayHaveLostIsNotBelievedThoughTheNextOneSucceeds() throws {
    let writer = try world.writer(body.size)
    try world.write(body, 0..<3_000_000, writer)
    try writer.synchronize()
    try world.write(body, 3_000_000..<5_000_000, writer)
    let reader = try EpisodeReader(layout, key, 1)
    #expect(reader.contains(3_000_000..<4_900_000))
    #expect(throws: PosixError.self) {
      try writer.synchronize { _ throws(PosixError) in throw PosixError(.EIO, "synchronize") }
    }
    #expect(writer.present.ranges == [0..<3_000_000])
    #expect(writer.present.count == 3_000_000)
    #expect(!reader.contains(3_000_000..<3_004_096))
    #expect(world.read(reader, 0..<2_900_000) == body.bytes(0..<2_900_000))
    try writer.synchronize()
    #expect(RangeJournal(reading: layout.journal(key, 1)).durable.ranges == [0..<3_000_000])
    // It comes again, and counts.
    try world.write(body, 3_000_000..<6_000_000, writer)
    try writer.synchronize()
    #expect(writer.isComplete)
    #expect(try GenerationCheck(layout, key, 1).damaged.isEmpty)
    #expect(try GenerationCheck(layout, key, 1).sound == body.size)
  }

  @Test func aFifoInThePlaceOfAFileHoldsNobodyUp() throws {
    try world.store(body, removesMap: false)
    for path in [layout.map(key, 1), layout.journal(key, 1), layout.data(key, 1)] {
      unlink(path)
      #expect(mkfifo(path, 0o600) == 0)
      _ = try? EpisodeReader(layout, key, 1)
      _ = try? EpisodeWriter(continuing: layout, key, 1)
      _ = try? GenerationCheck(layout, key, 1)
      _ = LiveMap.received(layout, key, 1)
    }
    let log = world.directory.path("log")
    mkfifo(log, 0o600)
    LogFile(log).write("a line")
  }

  @Test func aLinkOfTheUsersOwnMayBeTheCacheFolder() throws {
    let target = world.directory.path("big-disk")
    try Directories.createPrivate(target)
    let link = world.directory.path("linked")
    #expect(symlink(target, link) == 0)
    let linked = CacheLayout(cache: link, runtime: world.directory.path("run2"))
    _ = try EpisodeWriter(creating: linked, key, 1, CacheWorld.representation(10))
    #expect(access(target + "/episodes", F_OK) == 0)
    if geteuid() == 0 {
      #expect(lchown(link, 65_534, 65_534) == 0)
      #expect(throws: PosixError.self) { try Directories.createPrivate(link) }
    }
  }

  @Test func aDownloadThatWaitsKeepsOneFileOpen() throws {
    var writers: [EpisodeWriter] = []
    for number in 1...10 {
      let writer = try EpisodeWriter(
        creating: layout, key, UInt32(number), CacheWorld.representation(body.size))
      try world.write(body, 0..<100_000, writer)
      try writer.synchronize()
      writers.append(writer)
    }
    #expect(world.openFiles == 10)
    #expect(writers.count == 10)
  }
}
