import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// The real writer, journal and live map on a disk that fails, in an order that a seed decides: kills, power losses that
/// tear pages and the journal's end and take names back, flushes that fail, and a disk that says it has what it has not.
@Suite struct CrashSimulationTests {
  /// Steele and others' SplitMix64: the same each time.
  private struct Chance: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      let z = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
      return (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    }
    mutating func below(_ bound: Int64) -> Int64 { Int64(next() % UInt64(max(bound, 1))) }
    mutating func isOne(in whole: Int64) -> Bool { below(whole) == 0 }
  }

  private final class Run {
    let world: CacheWorld
    let body: [UInt8]
    let size: Int64
    var random: Chance
    var writer: EpisodeWriter?
    /// What is written, and what the disk has for good.
    var written = ByteRanges()
    var settled = ByteRanges()
    /// Bytes of the journal that the disk has for good.
    var settledJournal: Int64 = 0
    let lies: Bool
    var facts: [String: Int] = [:]

    init(seed: UInt64) throws {
      random = Chance(state: seed)
      lies = seed % 4 == 3
      size = 300_000 + random.below(3_000_000)
      body = TestBody(seed: seed, size: size).bytes(0..<size)
      world = try CacheWorld()
      writer = try world.writer(random.isOne(in: 3) ? nil : size)
      settledJournal = journalSize
    }

    var layout: CacheLayout { world.layout }
    var journalSize: Int64 {
      var status = stat()
      return stat(layout.journal(world.key, 1), &status) == 0 ? Int64(status.st_size) : 0
    }

    func count(_ fact: String) { facts[fact, default: 0] += 1 }

    func step() throws {
      guard let writer else { return }
      switch random.below(10) {
      case 0..<4: try write(writer)
      case 4..<6: try flush(writer)
      case 6: try failingFlush(writer)
      case 7: try reopen(losingPower: false)
      case 8: if random.isOne(in: 2) { try reopen(losingPower: true) }
      default: if writer.representation.total == nil { try learnTotal(writer) }
      }
      try check()
    }

    private func write(_ writer: EpisodeWriter) throws {
      // A disk that lies is found out by checksums: those of whole pieces from a chunk's start.
      let holes = written.missing(in: 0..<size)
      guard let hole = lies ? holes.first : holes.randomElement(using: &random) else { return }
      let start = lies ? hole.lowerBound : hole.lowerBound + random.below(hole.upperBound - hole.lowerBound)
      let range = start..<min(start + 1 + random.below(700_000), hole.upperBound)
      try body[Int(range.lowerBound)..<Int(range.upperBound)].withUnsafeBytes {
        try writer.write($0, at: range.lowerBound)
      }
      written.insert(range)
      count("pieces written")
    }

    private func flush(_ writer: EpisodeWriter) throws {
      let isTrue = !lies || random.isOne(in: 2)
      try writer.synchronize { file throws(PosixError) in if isTrue { try file.synchronize() } }
      count(isTrue ? "flushes" : "flushes that lied")
      if isTrue { settle() }
    }

    private func settle() {
      settled = written
      settledJournal = journalSize
    }

    /// The kernel drops what it could not write, and says so once.
    private func failingFlush(_ writer: EpisodeWriter) throws {
      if lies || written.ranges == settled.ranges { return }
      let isThrown =
        (try? writer.synchronize { _ throws(PosixError) in throw PosixError(.EIO, "fdatasync") }) == nil
      #expect(isThrown)
      try tear(layout.data(world.key, 1))
      written = settled
      count("flushes that failed")
    }

    private func learnTotal(_ writer: EpisodeWriter) throws {
      try writer.set(CacheWorld.representation(size))
      count("totals learnt late")
    }

    /// Of pages that the disk does not have for good some are gone.
    private func tear(_ path: String) throws {
      let file = try FileDescriptor(opening: path, O_WRONLY)
      for run in written.ranges {
        for hole in settled.missing(in: run) {
          var at = hole.lowerBound
          while at < hole.upperBound {
            let end = min((at / 4096 + 1 + random.below(64)) * 4096, hole.upperBound)
            if random.isOne(in: 2) {
              try file.write([UInt8](repeating: 0, count: Int(end - at)), at: at)
              count("torn pages")
            }
            at = end
          }
        }
      }
    }

    private func reopen(losingPower: Bool) throws {
      writer = nil
      if losingPower { try losePower() }
      count(losingPower ? "power losses" : "kills")
      let path = layout.data(world.key, 1)
      let isWhole = layout.isWhole(world.key, 1)
      writer = try EpisodeWriter(continuing: layout, world.key, 1)
      let present = writer?.present ?? ByteRanges()
      // A kill costs no whole block, a power loss nothing that the disk had.
      for run in (losingPower ? settled : written).ranges {
        let first = losingPower ? run.lowerBound : (run.lowerBound + 4095) / 4096 * 4096
        let last = losingPower || run.upperBound == size ? run.upperBound : run.upperBound / 4096 * 4096
        if first < last { #expect(present.contains(first..<last), "\(path): \(run) of \(present)") }
      }
      if isWhole { #expect(present.contains(0..<size)) }
      if losingPower, lies, present.count < written.count { count("lies found out") }
      written = present
      if losingPower { settle() } else { settled = ByteRanges(settled.ranges.filter(present.contains)) }
    }

    private func losePower() throws {
      let (whole, part) = (layout.whole(world.key, 1), layout.part(world.key, 1))
      try tear(layout.data(world.key, 1))
      if lies, settled.count < size, rename(whole, part) == 0 { count("names taken back") }
      unlink(layout.map(world.key, 1))
      let kept = settledJournal + random.below(journalSize - settledJournal + 1)
      let journal = try FileDescriptor(opening: layout.journal(world.key, 1), O_WRONLY)
      try journal.truncate(to: kept)
      if random.isOne(in: 3) {
        try journal.write([7, 0, 0, 0, 12, 1, 2], at: kept)
        count("torn journals")
      }
    }

    /// No reader sees a byte that is not the body's.
    private func check() throws {
      let reader = try EpisodeReader(layout, world.key, 1)
      for _ in 0..<4 { try check(random.below(size), 100_000, reader) }
      if layout.isWhole(world.key, 1), random.isOne(in: 10) {
        #expect(reader.available(at: 0, upTo: Int(size)) == size)
        try check(0, Int(size), reader)
        count("whole files")
      }
    }

    private func check(_ start: Int64, _ most: Int, _ reader: EpisodeReader) throws {
      let count = reader.available(at: start, upTo: most)
      if count == 0 { return }
      let bytes = try #require(world.read(reader, start..<start + Int64(count)))
      let isSame = body[Int(start)...].withUnsafeBytes { right in
        bytes.withUnsafeBytes { given in
          guard let right = right.baseAddress, let given = given.baseAddress else { return false }
          return memcmp(given, right, count) == 0
        }
      }
      #expect(isSame, "at \(start)")
      self.count("reads")
    }
  }

  @Test func noByteIsWrongAndNoneIsLostWhateverTheDiskDoes() throws {
    var facts: [String: Int] = [:]
    for seed in 1...40 as ClosedRange<UInt64> {
      let run = try Run(seed: seed)
      for _ in 0..<60 { try run.step() }
      facts.merge(run.facts, uniquingKeysWith: +)
    }
    let expected = [
      "pieces written", "flushes", "flushes that lied", "flushes that failed", "totals learnt late",
      "torn pages",
      "torn journals", "names taken back", "lies found out", "kills", "power losses", "reads", "whole files",
    ]
    #expect(expected.filter { facts[$0] ?? 0 == 0 } == [], "\(facts)")
  }
}
