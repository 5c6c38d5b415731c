import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

@Suite struct EpisodeCacheTests {
  let directory: TemporaryDirectory
  let layout: CacheLayout
  let key = MediaKey(address: "http://example.org/a.mp3")
  let body = TestBody(seed: 5, size: 100_000)

  init() throws {
    directory = try TemporaryDirectory()
    layout = CacheLayout(cache: directory.path("cache"), runtime: directory.path("run"))
  }

  private func writer(total: Int64? = 100_000) throws -> EpisodeWriter {
    try EpisodeWriter(
      creating: layout, key, 1,
      Representation(total: total, entityTag: "\"a\"", finalURL: "http://cdn.example.org/a"))
  }

  private func write(_ range: Range<Int64>, _ writer: EpisodeWriter) throws {
    try body.bytes(range).withUnsafeBytes { try writer.write($0, at: range.lowerBound) }
  }

  private func read(_ reader: EpisodeReader, _ range: Range<Int64>) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: range.count)
    let count = buffer.withUnsafeMutableBytes { reader.read(at: range.lowerBound, into: $0) }
    return count.map { Array(buffer.prefix($0)) }
  }

  /// Without waiting for the disk.
  private func overwrite(_ path: String, _ bytes: ArraySlice<UInt8>) throws {
    try FileDescriptor(opening: path, O_WRONLY | O_TRUNC).write(Array(bytes), at: 0)
  }

  @Test func aReaderSeesWholeBlocksAsTheyCome() throws {
    let writer = try writer()
    let reader = try EpisodeReader(layout, key, 1)
    #expect(reader.isLive)
    #expect(read(reader, 0..<100) == nil)
    try write(0..<5000, writer)
    #expect(read(reader, 0..<4096) == body.bytes(0..<4096))
    #expect(read(reader, 4096..<5000) == nil && reader.available(at: 100, upTo: 50_000) == 3996)
    try write(5000..<8192, writer)
    #expect(read(reader, 4096..<8192) == body.bytes(4096..<8192))
    try write(98_304..<100_000, writer)
    #expect(read(reader, 98_304..<120_000) == body.bytes(98_304..<100_000))
    #expect(read(reader, 100_000..<100_010) == [])
    #expect(reader.received == 8192 + 1696)
  }

  @Test func aSizeThatIsLearntAtTheEndShowsTheLastBlock() throws {
    let writer = try writer(total: nil)
    let reader = try EpisodeReader(layout, key, 1)
    try write(0..<100_000, writer)
    #expect(reader.total == nil)
    #expect(read(reader, 98_304..<100_001) == nil)
    var representation = writer.representation
    representation.total = 100_000
    try writer.set(representation)
    #expect(reader.total == 100_000)
    #expect(read(reader, 98_304..<110_000) == body.bytes(98_304..<100_000))
    #expect(writer.isComplete)
  }

  @Test func theJournalHoldsWhatWasSynchronizedAndNothingElse() throws {
    let writer = try writer()
    try write(0..<10_000, writer)
    try write(50_000..<60_000, writer)
    try writer.synchronize()
    try write(10_000..<20_000, writer)
    let journal = RangeJournal(reading: layout.journal(key, 1))
    #expect(journal.durable.ranges == [0..<10_000, 50_000..<60_000])
    #expect(journal.representation?.entityTag == "\"a\"")
    #expect(journal.representation?.total == 100_000)
  }

  @Test func afterAKillTheLiveMapStillTellsWhatCame() throws {
    do {
      let writer = try writer()
      try write(0..<40_000, writer)
      try writer.synchronize()
      try write(40_000..<70_000, writer)
    }
    let again = try EpisodeWriter(continuing: layout, key, 1)
    // Also of what was not synchronized, in whole blocks.
    #expect(again.present.ranges == [0..<69_632])
    #expect(again.representation.finalURL == "http://cdn.example.org/a")
  }

  @Test func aKillLeavesNoBytesUnderTheValidatorOfAnother() throws {
    do {
      let writer = try writer()
      var other = writer.representation
      other.entityTag = "\"b\""
      try writer.set(other)
      try write(0..<40_000, writer)
    }
    let again = try EpisodeWriter(continuing: layout, key, 1)
    #expect(again.present.ranges == [0..<36_864])
    #expect(again.representation.entityTag == "\"b\"")
  }

  @Test func afterAPowerLossOnlyTheJournalCounts() throws {
    do {
      let writer = try writer()
      try write(0..<40_000, writer)
      try writer.synchronize()
      try write(40_000..<70_000, writer)
    }
    unlink(layout.map(key, 1))
    let reader = try EpisodeReader(layout, key, 1)
    #expect(!reader.isLive)
    #expect(reader.contains(0..<40_000))
    #expect(!reader.contains(39_999..<40_001))
    #expect(try EpisodeWriter(continuing: layout, key, 1).present.ranges == [0..<40_000])
  }

  @Test func aTornJournalIsReadUpToItsLastWholeRecord() throws {
    do {
      let writer = try writer()
      for start in stride(from: Int64(0), to: 90_000, by: 10_000) {
        try write(start..<start + 5000, writer)
        try writer.synchronize()
      }
    }
    unlink(layout.map(key, 1))
    let whole = try Directories.read(layout.journal(key, 1))
    let all = RangeJournal(reading: layout.journal(key, 1)).durable
    #expect(all.ranges.count == 9)
    for cut in 0..<whole.count {
      try overwrite(layout.journal(key, 1), whole[..<cut])
      let journal = RangeJournal(reading: layout.journal(key, 1))
      #expect(journal.length <= Int64(cut))
      // Never more than was written, and always a beginning of it.
      #expect(journal.durable.ranges.elementsEqual(all.ranges.prefix(journal.durable.ranges.count)))
    }
    // A flipped bit anywhere: what is behind it does not count.
    for index in stride(from: 0, to: whole.count, by: 7) {
      var bytes = whole
      bytes[index] ^= 0x10
      try overwrite(layout.journal(key, 1), bytes[...])
      let journal = RangeJournal(reading: layout.journal(key, 1))
      #expect(journal.length <= Int64(index))
      #expect(all.contains(allOf: journal.durable))
    }
  }

  @Test func aTornJournalIsGoneOnWithBehindItsLastWholeRecord() throws {
    do {
      let writer = try writer()
      try write(0..<8192, writer)
      try writer.synchronize()
    }
    unlink(layout.map(key, 1))
    let whole = try Directories.read(layout.journal(key, 1))
    try Directories.replace(layout.journal(key, 1), with: whole + [9, 0, 0, 0, 2, 1])
    do {
      let writer = try EpisodeWriter(continuing: layout, key, 1)
      try write(8192..<16_384, writer)
      try writer.synchronize()
    }
    #expect(RangeJournal(reading: layout.journal(key, 1)).durable.ranges == [0..<16_384])
  }

  @Test func aJournalThatClaimsMoreThanTheFileHoldsIsCutThere() throws {
    let long = TestBody(seed: 6, size: 2_500_000)
    do {
      let writer = try writer(total: long.size)
      try long.bytes(0..<2_400_000).withUnsafeBytes { try writer.write($0, at: 0) }
      try writer.synchronize()
    }
    unlink(layout.map(key, 1))
    #expect(truncate(layout.data(key, 1), 1_200_000) == 0)
    #expect(try EpisodeReader(layout, key, 1).received == 1_200_000)
    // Of the chunk that is cut nothing can be told.
    #expect(try EpisodeWriter(continuing: layout, key, 1).present.ranges == [0..<1 << 20])
  }

  /// A body without a length has ended, and the daemon is killed before its journal says so.
  @Test func aTotalThatWasLearntJustBeforeAKillCounts() throws {
    do {
      let writer = try writer(total: nil)
      try write(0..<5000, writer)
      try writer.synchronize()
      try writer.set(CacheWorld.representation(5000))
    }
    #expect(try EpisodeWriter(continuing: layout, key, 1).isComplete)
    #expect(read(try EpisodeReader(layout, key, 1), 4096..<8192) == body.bytes(4096..<5000))
  }

  @Test func storedBytesAreCompared() throws {
    let writer = try writer()
    try write(0..<50_000, writer)
    let right = body.bytes(10_000..<50_000)
    #expect(try right.withUnsafeBytes { try writer.agreement(of: $0, at: 10_000) } == 40_000)
    var wrong = right
    wrong[33_333] ^= 1
    #expect(try wrong.withUnsafeBytes { try writer.agreement(of: $0, at: 10_000) } == 33_333)
  }

  @Test func whatIsOpenIsNotEvictedAndKeepsItsBytesWhenItIsRemoved() throws {
    let writer = try writer()
    try write(0..<100_000, writer)
    do {
      let reader = try EpisodeReader(layout, key, 1)
      #expect(!layout.evict(key, 1))
      layout.remove(key, 1)
      #expect(read(reader, 0..<100_000) == body.bytes)
    }
    #expect(layout.evict(key, 1))
  }

  @Test func theLastReadIsKept() throws {
    let writer = try writer()
    try write(0..<100_000, writer)
    let before = try #require(layout.lastRead(key, 1))
    // The kernel's clock for files goes on in steps.
    let isLater = try eventually {
      try EpisodeReader(layout, key, 1).noteRead()
      return try #require(layout.lastRead(key, 1)) > before
    }
    #expect(isLater)
  }

  /// A check or a comparison does not make an episode the one that was read last.
  @Test func whatPodcastfsReadsForItselfCountsAsNoUse() throws {
    let writer = try writer()
    try write(0..<100_000, writer)
    try writer.synchronize()
    let before = try #require(layout.lastRead(key, 1))
    // The kernel's clock for files goes on in steps.
    #expect(
      try eventually {
        try write(0..<100_000, writer); return try modified(1) > before
      })
    #expect(try body.bytes.withUnsafeBytes { try writer.agreement(of: $0, at: 0) } == 100_000)
    _ = try GenerationCheck(layout, key, 1)
    #expect(layout.lastRead(key, 1) == before)
  }

  private func modified(_ generation: UInt32) throws -> Int64 {
    let status = try FileDescriptor(openingRegular: layout.data(key, generation), O_RDONLY).status()
    return Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
  }

  @Test func aGenerationIsNotBegunTwice() throws {
    _ = try writer()
    #expect(throws: PosixError.self) { try writer() }
  }

  @Test func theCacheIsTagged() throws {
    try layout.create()
    let tag = try Directories.read(layout.cache + "/CACHEDIR.TAG")
    #expect(String(decoding: tag, as: UTF8.self).hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
  }

  @Test func readersNeverSeeABlockBeforeItsBytes() throws {
    let body = TestBody(seed: 6, size: 8 << 20)
    let writer = try EpisodeWriter(creating: layout, key, 1, Representation(total: body.size))
    let reader = try EpisodeReader(layout, key, 1)
    let isDone = Monitor(false)
    PosixThread.start("writer") {
      var offset: Int64 = 0
      while offset < body.size {
        let range = offset..<min(offset + 16_384, body.size)
        try? body.bytes(range).withUnsafeBytes { _ = try writer.write($0, at: offset) }
        offset = range.upperBound
      }
      isDone.withLockNotifying { $0 = true }
    }
    var seen: Int64 = 0
    var random = SystemRandomNumberGenerator()
    let deadline = MonotonicTime.after(patience)
    while seen < body.size, MonotonicTime.now < deadline {
      let offset = Int64.random(in: 0..<body.size, using: &random) / 4096 * 4096
      for at in [offset, seen] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { reader.read(at: at, into: $0) }
        guard let count else { continue }
        #expect(body.firstDifference(buffer.prefix(count), at: at) == nil)
        if at == seen { seen += Int64(count) }
      }
    }
    #expect(seen == body.size)
    #expect(isDone.wait(until: .after(patience)) { $0 ? true : nil } == true)
  }
}

extension ByteRanges {
  fileprivate func contains(allOf other: ByteRanges) -> Bool { other.ranges.allSatisfy { contains($0) } }
}
