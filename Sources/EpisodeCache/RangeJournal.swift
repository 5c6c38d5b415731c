internal import Glibc
package import PodcastModel
internal import PosixKit

/// What a generation's journal says: which representation it is of, which of its bytes are on the disk, and
/// their checksums.
///
/// The journal is a file of records that is only ever appended to, after the data they speak of has been
/// synchronized. A record that a crash cut off, and all behind it, counts for nothing. Checksums come before the ranges
/// that they speak of: one without its range counts for nothing.
package struct RangeJournal: Hashable, Sendable {
  /// Bytes that a checksum is of; the last chunk of a file, and one that has come in part, has fewer.
  package static let chunk: Int64 = 1 << 20

  package var representation: Representation?
  package var durable = ByteRanges()
  /// By the start of the chunk.
  package var sums: [Int64: Checksum] = [:]
  /// A number by chance, which the live map has too.
  package var identity: UInt64?
  /// How many bytes of the file are whole records that count.
  package var length: Int64 = 0
  /// The chunks whose sums came last, as far as a crash may have left them unwritten by a disk that lies.
  private(set) var recent: [Int64] = []
  /// Chunks in `recent`: 64 MiB, as much as disks keep in a memory of their own.
  private static let mostRecent = 64

  package init() {}

  /// Reads the journal at `path`; one that is missing, or is no regular file, says nothing.
  package init(reading path: String) {
    guard let bytes = try? Directories.readRegular(path) else { return }
    var rest = bytes[...]
    while let (record, size) = JournalRecord.decode(rest) {
      rest = rest.dropFirst(size)
      length += Int64(size)
      apply(record)
    }
    for (start, sum) in sums where !durable.contains(start..<sum.end) { sums[start] = nil }
    recent.removeAll { sums[$0] == nil }
  }

  mutating func apply(_ record: JournalRecord) {
    switch record {
    case .representation(let value): representation = value
    case .range(let range): durable.insert(range)
    case .sum(let start, let sum):
      sums[start] = sum
      recent.removeAll { $0 == start }
      if recent.count == Self.mostRecent { recent.removeFirst() }
      recent.append(start)
    case .lost(let range): forget(range)
    case .identity(let value): identity = value
    }
  }

  /// These bytes are not there.
  mutating func forget(_ range: Range<Int64>) {
    durable.remove(range)
    for (start, sum) in sums where range.overlaps(start..<sum.end) { sums[start] = nil }
    recent.removeAll { sums[$0] == nil }
  }

  /// What is on the disk by its word, and has no sum: pieces that began in the middle of a chunk.
  var unsummed: ByteRanges {
    var rest = durable
    for (start, sum) in sums { rest.remove(start..<sum.end) }
    return rest
  }

  /// All that it says, in as few records as can be.
  var records: [JournalRecord] {
    var records: [JournalRecord] = []
    if let identity { records.append(.identity(identity)) }
    if let representation { records.append(.representation(representation)) }
    let old = sums.keys.filter { !recent.contains($0) }.sorted()
    for start in old + recent { if let sum = sums[start] { records.append(.sum(start: start, sum)) } }
    return records + durable.ranges.map { .range($0) }
  }
}
