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

  @Test(.enabled(if: geteuid() == 0, "mounting a small disk takes root"))
  func aFullRuntimeFolderKillsNobody() throws {
    #expect(mount("tmpfs", layout.maps, "tmpfs", 0, "size=20k,mode=0700") == 0)
    defer { umount2(layout.maps, Int32(MNT_DETACH)) }
    let writer = try world.writer(nil)
    let reader = try EpisodeReader(layout, key, 1)
    try? world.overwriteNew(layout.maps + "/ballast", [UInt8](repeating: 1, count: 16_384))
    // All of what a map can speak of is asked for, though there is room for little of it.
    #expect(!reader.contains(0..<LiveMap.capacity))
    #expect(!reader.contains(20 << 30..<21 << 30))
    #expect(world.read(reader, 30 << 30..<(30 << 30) + 4096) == nil)
    try world.write(body, 0..<8192, writer)
    #expect(world.read(reader, 0..<8192) == body.bytes(0..<8192))
    // Where there is room for no more of it, that is said.
    let far: Int64 = 200 << 20
    let failure = #expect(throws: PosixError.self) {
      try body.bytes(0..<4096).withUnsafeBytes { try writer.write($0, at: far) }
    }
    #expect(failure?.errno == .ENOSPC)
    unlink(layout.maps + "/ballast")
    try body.bytes(0..<4096).withUnsafeBytes { try writer.write($0, at: far) }
    #expect(world.read(reader, far..<far + 4096) == body.bytes(0..<4096))
    // Another one is made in the cache where there is none.
    let other = MediaKey(address: "http://example.org/b.mp3")
    try? world.overwriteNew(layout.maps + "/ballast", [UInt8](repeating: 1, count: 16_384))
    let spare = try EpisodeWriter(creating: layout, other, 1, CacheWorld.representation(8192))
    #expect(spare.hasSpareMap && access(layout.spareMap(other, 1), F_OK) == 0)
    #expect(layout.sweep().contains { $0.key == other && $0.generation == 1 })
    try world.write(body, 0..<8192, spare)
    let its = try EpisodeReader(layout, other, 1)
    #expect(its.isLive && world.read(its, 0..<8192) == body.bytes(0..<8192))
    #expect(LiveMap.received(layout, other, 1) == 8192)
    layout.remove(other, 1)
    #expect(access(layout.spareMap(other, 1), F_OK) != 0)
  }

  @Test func whatAFailedFlushMayHaveLostIsNotBelievedThoughTheNextOneSucceeds() throws {
    let writer = try world.writer(body.size)
    try world.write(body, 0..<3_000_000, writer)
    try writer.synchronize()
    try world.write(body, 3_000_000..<5_000_000, writer)
    let reader = try EpisodeReader(layout, key, 1, isVouched: true)
    #expect(reader.contains(3_000_000..<4_900_000))
    #expect(throws: PosixError.self) {
      try writer.synchronize { _ throws(PosixError) in throw PosixError(.EIO, "synchronize") }
    }
    #expect(writer.present.ranges == [0..<3_000_000])
    #expect(writer.received == 3_000_000)
    #expect(!reader.contains(3_000_000..<3_004_096))
    #expect(world.read(reader, 0..<2_900_000) == body.bytes(0..<2_900_000))
    // Nor does it keep the room that it will need again.
    #expect(try world.room() < 3_100_000)
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

extension CacheWorld {
  /// Fills a file as far as there is room.
  func overwriteNew(_ path: String, _ bytes: [UInt8]) throws {
    let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT)
    for offset in stride(from: 0, to: bytes.count, by: 4096) {
      try file.write(Array(bytes[offset..<min(offset + 4096, bytes.count)]), at: Int64(offset))
    }
  }
}
