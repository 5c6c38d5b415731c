internal import PodcastModel
package import PosixKit

/// The CRC-32C of a chunk's bytes, from its start up to `end`.
package struct Checksum: Hashable, Sendable {
  package var end: Int64
  package var crc: CRC32C
}

/// The checksums of a file that is being written: taken as bytes pass by, where they come in order.
struct RunningChecksums {
  /// By the start of the chunk.
  private(set) var sums: [Int64: Checksum]
  /// Chunks whose sum the journal does not have yet.
  private var untold: Set<Int64> = []

  private static var chunk: Int64 { RangeJournal.chunk }

  init(_ sums: [Int64: Checksum] = [:]) { self.sums = sums }

  /// These bytes have been written at `offset`.
  mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    var (rest, position) = (bytes, offset)
    while !rest.isEmpty {
      let start = position / Self.chunk * Self.chunk
      let piece = UnsafeRawBufferPointer(
        rebasing: rest.prefix(Int(min(Int64(rest.count), start + Self.chunk - position))))
      if position == start || sums[start]?.end == position {
        var crc = position == start ? CRC32C() : sums[start]?.crc ?? CRC32C()
        crc.update(piece)
        set(Checksum(end: position + Int64(piece.count), crc: crc), of: start)
      }
      position += Int64(piece.count)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
    }
  }

  mutating func set(_ sum: Checksum, of start: Int64) {
    sums[start] = sum
    untold.insert(start)
  }

  /// What the journal should be told.
  var news: [JournalRecord] {
    untold.sorted().compactMap { start in sums[start].map { .sum(start: start, $0) } }
  }

  /// The journal has these.
  mutating func told(_ records: [JournalRecord]) {
    for case .sum(let start, let sum) in records where sums[start] == sum { untold.remove(start) }
  }

  /// Of these bytes nothing is known any more.
  mutating func forget(_ range: Range<Int64>) {
    for (start, sum) in sums where range.overlaps(start..<sum.end) {
      sums[start] = nil
      untold.remove(start)
    }
  }

  /// Chunks of which all that the file can have is there, but no sum: those that came out of order.
  func missing(_ present: ByteRanges, total: Int64?) -> [Range<Int64>] {
    var result: [Range<Int64>] = []
    for run in present.ranges {
      var start = (run.lowerBound + Self.chunk - 1) / Self.chunk * Self.chunk
      while start < run.upperBound {
        let end = min(start + Self.chunk, total ?? .max)
        if end <= run.upperBound && sums[start]?.end != end { result.append(start..<end) }
        start += Self.chunk
      }
    }
    return result
  }
}
