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
    #expect(check.sound == body.size && check.unsummed == 0 && check.damaged.isEmpty)
    // As long as it is after a kill: the sums go on where they were.
    let journal = RangeJournal(reading: layout.journal(key, 1))
    #expect(journal.sums.keys.sorted() == [0, 1 << 20, 2 << 20, 3 << 20])
  }

  @Test func whatHasRottedIsFoundAndComesAgain() throws {
    try world.store(body)
    try world.damage(layout.data(key, 1), at: 1_200_000)
    let check = try GenerationCheck(layout, key, 1)
    #expect(check.damaged == [1 << 20..<2 << 20])
    let writer = try EpisodeWriter(continuing: layout, key, 1)
    try writer.discard(check.damaged)
    #expect(!writer.present.contains(1_200_000))
    // A kill here forgets nothing of that.
    #expect(!RangeJournal(reading: layout.journal(key, 1)).durable.contains(1_200_000))
    #expect(try world.room() < body.size - 900_000)
    try world.write(body, 1 << 20..<2 << 20, writer)
    try writer.synchronize()
    #expect(writer.isComplete)
    #expect(try GenerationCheck(layout, key, 1).sound == body.size)
  }

  @Test func aCopyFromAnotherDiskIsComparedAsItIsRead() throws {
    try world.store(body)
    var bytes = try Directories.read(layout.data(key, 1))
    bytes[2_500_000] ^= 1
    unlink(layout.data(key, 1))
    try Directories.replace(layout.data(key, 1), with: bytes)
    do {
      let reader = try EpisodeReader(layout, key, 1)
      #expect(world.read(reader, 0..<100_000) == body.bytes(0..<100_000))
      #expect(world.read(reader, 2_300_000..<2_400_000) == nil)
      #expect(!reader.canRead(at: 2_300_000, count: 10))
      #expect(reader.takeDamage().ranges == [2 << 20..<3 << 20])
      #expect(reader.takeDamage().isEmpty)
    }
    // Who goes on with it does not believe that MiB, and then what is left.
    let writer = try EpisodeWriter(continuing: layout, key, 1)
    #expect(writer.present.ranges == [0..<2 << 20, 3 << 20..<body.size])
    // Nor does that keep its room, which it needs again.
    #expect(try world.room() < body.size - 900_000)
  }

  /// Who has it open may be given its bytes without a look at what is there: the kernel reads by itself, or keeps pages.
  @Test func whatIsRepairedHasNoHolesForWhoHasItOpen() throws {
    try world.store(body)
    try world.damage(layout.data(key, 1), at: 1_200_000)
    let reader = try FileDescriptor(opening: layout.data(key, 1), O_RDONLY)
    let isLocked = reader.tryLock(.shared)
    #expect(isLocked)
    let writer = try EpisodeWriter(continuing: layout, key, 1)
    try writer.discard(try GenerationCheck(layout, key, 1).damaged)
    #expect(!writer.present.contains(1_200_000))
    var bytes = [UInt8](repeating: 0, count: 100_000)
    let count = try bytes.withUnsafeMutableBytes { try reader.read(into: $0, at: 1_300_000) }
    #expect(count == 100_000)
    #expect(bytes == body.bytes(1_300_000..<1_400_000))
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

  /// A disk that said it had written what it had not, and a machine that died then: nothing else tells of it. The time
  /// at which the file was written to last is the journal's.
  @Test func whatADiskLiedAboutBeforeACrashIsSeen() throws {
    let path = layout.data(key, 1)
    var up = timespec()
    clock_gettime(CLOCK_BOOTTIME, &up)
    do {
      let writer = try world.writer(body.size)
      try world.write(body, 0..<body.size, writer)
      // In the run of the machine before this one.
      world.shiftTime(path, bySeconds: -up.tv_sec - 1000)
      try writer.synchronize()
      writer.removeMap()
    }
    #expect(world.read(try EpisodeReader(layout, key, 1), 0..<body.size) == body.bytes(0..<body.size))
    var status = stat()
    stat(path, &status)
    let file = try FileDescriptor(opening: path, O_RDWR)
    try file.write([UInt8](repeating: 0, count: 8192), at: 2_900_000)
    var times = [status.st_atim, status.st_mtim]
    utimensat(AT_FDCWD, path, &times, 0)
    let reader = try EpisodeReader(layout, key, 1)
    #expect(world.read(reader, 0..<100_000) == body.bytes(0..<100_000))
    #expect(world.read(reader, 2_890_000..<2_930_000) == nil)
    #expect(reader.takeDamage().ranges == [2 << 20..<3 << 20])
    #expect(
      try EpisodeWriter(continuing: layout, key, 1).present.ranges == [0..<2 << 20, 3 << 20..<body.size])
  }

  @Test func aReaderOfWhatCanNotBeReadSaysWhichAndAnswersNothing() throws {
    try world.store(body)
    let reader = try EpisodeReader(layout, key, 1)
    #expect(reader.contains(0..<body.size))
    #expect(truncate(layout.data(key, 1), 1_000_000) == 0)
    #expect(world.read(reader, 990_000..<1_010_000) == nil)
    #expect(!reader.canRead(at: 990_000, count: 20_000))
    #expect(!reader.takeDamage().isEmpty)
  }

  /// Journals of the version before have no sums, no identity and no place: what they claim counts.
  @Test func aJournalOfTheVersionBeforeIsGoneOnWith() throws {
    let total = body.size
    func record(_ payload: [UInt8]) -> [UInt8] {
      var bytes: [UInt8] = []
      withUnsafeBytes(of: UInt32(payload.count).littleEndian) { bytes += $0 }
      bytes += payload
      withUnsafeBytes(of: Self.crc32(bytes).littleEndian) { bytes += $0 }
      return bytes
    }
    var facts: [UInt8] = [1]
    withUnsafeBytes(of: total.littleEndian) { facts += $0 }
    for text in ["\"a\"", "", "http://cdn.example.org/a"] {
      withUnsafeBytes(of: UInt32(text.utf8.count).littleEndian) { facts += $0 }
      facts += text.utf8
    }
    var range: [UInt8] = [2]
    for value in [Int64(0), 2_500_000] { withUnsafeBytes(of: value.littleEndian) { range += $0 } }
    try Directories.replace(layout.journal(key, 1), with: record(facts) + record(range))
    try Directories.replace(layout.data(key, 1), with: body.bytes(0..<2_500_000))
    #expect(world.read(try EpisodeReader(layout, key, 1), 0..<5000) == body.bytes(0..<5000))
    do {
      let writer = try EpisodeWriter(continuing: layout, key, 1)
      #expect(writer.present.ranges == [0..<2_500_000])
      #expect(writer.representation.entityTag == "\"a\"")
      try world.write(body, 2_500_000..<total, writer)
      try writer.synchronize()
      #expect(writer.isComplete)
    }
    let check = try GenerationCheck(layout, key, 1)
    #expect(check.sound == total && check.damaged.isEmpty)
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in
        value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1
      }
    }
  }

  @Test func aLongJournalIsWrittenAnew() throws {
    let path = layout.journal(key, 1)
    do {
      let writer = try world.writer(body.size)
      for index in 0..<1500 {
        writer.set(note: [UInt8](repeating: UInt8(index % 251), count: 64))
        try writer.synchronize()
      }
      try world.write(body, 0..<body.size, writer)
      try writer.synchronize()
    }
    let before = RangeJournal(reading: path)
    #expect(before.length > 64 << 10)
    let writer = try EpisodeWriter(continuing: layout, key, 1)
    writer.set(note: [1, 2, 3])
    try writer.synchronize()
    let after = RangeJournal(reading: path)
    #expect(after.length < 4096 && after.note == [1, 2, 3])
    #expect(after.durable == before.durable && after.sums == before.sums && after.identity == before.identity)
    #expect(try EpisodeReader(layout, key, 1).isLive)
  }
}
