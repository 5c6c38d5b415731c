import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Each MiB has its checksum, and is compared with it before it is believed in another place.
@Suite struct ChecksumTests {
  let world: CacheWorld
  let body = TestBody(seed: 21, size: 3_500_000)

  init() throws { world = try CacheWorld() }

  private var key: MediaKey { world.key }
  private var layout: CacheLayout { world.layout }

  @Test func theSumIsThatOfTheStandard() {
    var sum = CRC32C()
    Array("123456789".utf8).withUnsafeBytes { sum.update($0) }
    #expect(sum.value == 0xe306_9283)
  }

  @Test func theSumIsTheSameHoweverTheBytesAreCut() {
    let bytes = body.bytes(0..<10_007)
    for cut in [0, 1, 7, 8, 4096, 9999, 10_007] {
      var sum = CRC32C()
      bytes.withUnsafeBytes { all in
        sum.update(UnsafeRawBufferPointer(rebasing: all[..<cut]))
        sum.update(UnsafeRawBufferPointer(rebasing: all[cut...]))
      }
      #expect(sum.value == CRC32C.checksum(bytes[...]))
    }
  }

  @Test func everyMiBHasASumInWhateverOrderItComes() throws {
    let writer = try world.writer(body.size)
    try world.write(body, 1_500_000..<2_200_000, writer)
    try writer.synchronize()
    var at: Int64 = 0
    while at < 1_500_000 {
      try world.write(body, at..<min(at + 16_384, 1_500_000), writer)
      at += 16_384
    }
    try writer.synchronize()
    try world.write(body, 2_200_000..<body.size, writer)
    try writer.synchronize()
    let check = try GenerationCheck(layout, key, 1)
    #expect(check.sound == body.size && check.damaged.isEmpty)
    // As long as it is after a kill: the sums go on where they were.
    let journal = RangeJournal(reading: layout.journal(key, 1))
    #expect(journal.sums.keys.sorted() == [0, 1 << 20, 2 << 20, 3 << 20])
  }

  @Test func whatHasRottedIsFound() throws {
    try world.store(body)
    try world.damage(layout.data(key, 1), at: 1_200_000)
    #expect(try GenerationCheck(layout, key, 1).damaged == [1 << 20..<2 << 20])
  }

  @Test func aCrashThatLeftTheLastBytesUnwrittenIsSeen() throws {
    do {
      let writer = try world.writer(body.size)
      try world.write(body, 0..<3_000_000, writer)
      try writer.synchronize()
      try world.write(body, 3_000_000..<3_100_000, writer)
    }
    unlink(layout.map(key, 1))
    // A disk that said it had written what it had not.
    let file = try FileDescriptor(opening: layout.data(key, 1), O_RDWR)
    try file.write([UInt8](repeating: 0, count: 8192), at: 2_900_000)
    #expect(try EpisodeWriter(continuing: layout, key, 1).present.ranges == [0..<2 << 20])
  }

  @Test func aReaderOfWhatCanNotBeReadSaysSoAndAnswersNothing() throws {
    try world.store(body)
    let reader = try EpisodeReader(layout, key, 1)
    #expect(reader.contains(0..<body.size))
    #expect(truncate(layout.data(key, 1), 1_000_000) == 0)
    #expect(world.read(reader, 990_000..<1_010_000) == nil)
    #expect(!reader.canRead(at: 990_000, count: 20_000))
    #expect(reader.isDamaged(at: 990_000, count: 20_000) && !reader.isDamaged(at: 0, count: 990_000))
  }
}
