import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Another program writes to a data file that is open here.
@Suite struct StrangersHandTests {
  let world: CacheWorld
  let body = TestBody(seed: 67, size: 4_300_000)

  init() throws { world = try CacheWorld() }

  private var key: MediaKey { world.key }
  private var layout: CacheLayout { world.layout }

  /// A moment later, by the file's time.
  private func zero(_ range: Range<Int64>) throws {
    let file = try FileDescriptor(opening: layout.data(key, 1), O_WRONLY)
    try file.write([UInt8](repeating: 0, count: range.count), at: range.lowerBound)
    world.shiftTime(layout.data(key, 1), bySeconds: 1)
  }

  /// Its map is in memory still, or it has none.
  @Test(arguments: [true, false]) func whoReadsAWholeFileIsGivenNothingWrong(_ hasMap: Bool) throws {
    try world.store(body, removesMap: !hasMap)
    let reader = try EpisodeReader(layout, key, 1, isVouched: hasMap)
    #expect(reader.isLive == hasMap)
    let isRight = world.read(reader, 0..<100_000) == body.bytes(0..<100_000)
    #expect(isRight)
    try zero(1_500_000..<1_600_000)
    #expect(world.read(reader, 1_500_000..<1_600_000) == nil)
    #expect(reader.takeDamage().ranges == [1 << 20..<2 << 20])
    let isStillRight = world.read(reader, 3_000_000..<3_100_000) == body.bytes(3_000_000..<3_100_000)
    #expect(isStillRight)
  }

  @Test func whoWritesFindsItAndBlessesNothing() throws {
    let writer = try world.writer(body.size)
    try world.write(body, 0..<2_500_000, writer)
    try world.write(body, 3_300_000..<4_000_000, writer)
    try zero(500_000..<600_000)
    try zero(3_400_000..<3_500_000)
    #expect(try writer.discardWhatOthersChanged() == .written)
    #expect(writer.present.ranges == [1 << 20..<2_500_000])
    #expect(try writer.discardWhatOthersChanged() == nil)
    for gap in writer.present.missing(in: 0..<body.size) { try world.write(body, gap, writer) }
    try writer.synchronize()
    #expect(try GenerationCheck(layout, key, 1).sound == body.size)
    let isRight = try Directories.read(layout.data(key, 1)) == body.bytes(0..<body.size)
    #expect(isRight)
  }

  /// What came last was never looked at before it went to the disk.
  @Test func theJournalKnowsNoTimeButItsOwn() throws {
    let writer = try world.writer(body.size)
    try world.write(body, 0..<body.size, writer)
    try zero(1_500_000..<1_600_000)
    try writer.synchronize()
    writer.removeMap()
    let reader = try EpisodeReader(layout, key, 1)
    #expect(world.read(reader, 1_500_000..<1_600_000) == nil)
    #expect(try GenerationCheck(layout, key, 1).damaged == [1 << 20..<2 << 20])
  }

  /// A clock that is another's: a network's file system gives files its own times.
  @Test func aFileThatIsAsItWasIsBelievedAgain() throws {
    let writer = try world.writer(body.size)
    try world.write(body, 0..<2 << 20, writer)
    world.shiftTime(layout.data(key, 1), bySeconds: -5)
    #expect(try writer.discardWhatOthersChanged() == nil)
    try world.write(body, 2 << 20..<body.size, writer)
    world.shiftTime(layout.data(key, 1), bySeconds: -5)
    try writer.synchronize()
    writer.removeMap()
    _ = try EpisodeReader(layout, key, 1)
  }

  @Test func aJournalThatIsCutUnderItsWriterIsWrittenAnew() throws {
    let writer = try world.writer(body.size)
    try world.write(body, 0..<2_000_000, writer)
    try writer.synchronize()
    #expect(truncate(layout.journal(key, 1), 100) == 0)
    try world.write(body, 2_000_000..<body.size, writer)
    try writer.synchronize()
    let journal = RangeJournal(reading: layout.journal(key, 1))
    #expect(journal.durable.ranges == [0..<body.size])
    #expect(try GenerationCheck(layout, key, 1).sound == body.size)
  }
}
