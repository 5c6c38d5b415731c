import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// A data file is shorter or longer than what its journal speaks of, by its time as it was or another.
@Suite struct LengthTests {
  let world: CacheWorld
  let body = TestBody(seed: 71, size: 4_300_000)

  init() throws { world = try CacheWorld() }

  private var path: String { world.layout.data(world.key, 1) }

  private func resize(to size: Int64, keepsTime: Bool) throws {
    try world.store(body)
    var status = stat()
    stat(path, &status)
    #expect(truncate(path, off_t(size)) == 0)
    var times = [status.st_atim, status.st_mtim]
    if !keepsTime { times[1].tv_sec += 5 }
    utimensat(AT_FDCWD, path, &times, 0)
  }

  @Test(arguments: [true, false]) func whatACutHasLeftIsCompared(_ keepsTime: Bool) throws {
    try resize(to: 2_500_000, keepsTime: keepsTime)
    try world.damage(path, at: 1_500_000)
    if keepsTime { try resizeTime() }
    let reader = try EpisodeReader(world.layout, world.key, 1)
    #expect(!reader.isWhole)
    let isRight = world.read(reader, 0..<1 << 20) == body.bytes(0..<1 << 20)
    #expect(isRight)
    #expect(world.read(reader, 1_500_000..<1_500_001) == nil)
    #expect(world.read(reader, 2_400_000..<2_400_001) == nil)
    let writer = try EpisodeWriter(continuing: world.layout, world.key, 1)
    #expect(writer.present.ranges == [0..<1 << 20])
    // When it has grown again nothing tells that it was cut.
    #expect(RangeJournal(reading: world.layout.journal(world.key, 1)).durable.ranges == [0..<1 << 20])
  }

  /// The file's time as the journal has it.
  private func resizeTime() throws {
    let modified = try #require(RangeJournal(reading: world.layout.journal(world.key, 1)).place).modified
    var times = [timespec(), timespec()]
    times[1] = timespec(tv_sec: Int(modified / 1_000_000_000), tv_nsec: Int(modified % 1_000_000_000))
    utimensat(AT_FDCWD, path, &times, 0)
  }

  @Test(arguments: [true, false]) func whatIsBehindTheEndIsTakenAway(_ keepsTime: Bool) throws {
    try resize(to: body.size + 1000, keepsTime: keepsTime)
    let before = try EpisodeReader(world.layout, world.key, 1)
    #expect(!before.isWhole)
    let isRight = world.read(before, 0..<body.size) == body.bytes(0..<body.size)
    #expect(isRight)
    let writer = try EpisodeWriter(continuing: world.layout, world.key, 1)
    #expect(writer.isComplete && world.layout.length(world.key, 1) == body.size)
    writer.removeMap()
    #expect(try EpisodeReader(world.layout, world.key, 1).isWhole)
  }

  /// A longer file of something else.
  @Test func anotherFileInItsPlaceIsNothing() throws {
    try world.store(body)
    try world.overwrite(path, TestBody(seed: 72, size: 6_000_000).bytes(0..<6_000_000))
    let writer = try EpisodeWriter(continuing: world.layout, world.key, 1)
    #expect(writer.present.isEmpty && world.layout.length(world.key, 1) == body.size)
  }

  /// Its end turns out to be before what has come.
  @Test func anEndThatIsLearntLateIsTheFiles() throws {
    let writer = try world.writer(nil)
    try world.write(body, 0..<2_000_000, writer)
    try writer.set(CacheWorld.representation(1_500_000))
    #expect(world.layout.length(world.key, 1) == 1_500_000 && writer.isComplete)
    try writer.synchronize()
    writer.removeMap()
    #expect(try EpisodeReader(world.layout, world.key, 1).isWhole)
  }
}
