internal import Glibc
package import PodcastModel
package import PosixKit

/// The CRC-32C of a chunk's bytes, from its start up to `end`.
package struct Checksum: Hashable, Sendable {
  package var end: Int64
  package var crc: CRC32C
}

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
  package var identity: UInt64?
  /// How many bytes of the file are whole records that count.
  package var length: Int64 = 0
  /// The starts of the chunks whose sums came last: a power loss may take them from a disk that lies.
  private(set) var recent: [Int64] = []
  /// Sums in `recent`, one or more for each of 64 MiB: as much as disks keep in a memory of their own.
  private static let mostRecent = 128

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
  }

  mutating func apply(_ record: JournalRecord) {
    switch record {
    case .representation(let value): representation = value
    case .range(let range): durable.insert(range)
    case .sum(let range, let crc):
      sums[range.lowerBound] = Checksum(end: range.upperBound, crc: crc)
      if recent.count == Self.mostRecent { recent.removeFirst() }
      recent.append(range.lowerBound)
    case .lost(let range):
      durable.remove(range)
      for (start, sum) in sums where range.overlaps(start..<sum.end) { sums[start] = nil }
    case .identity(let value): identity = value
    }
  }

  /// What is on the disk by its word, and has no sum: pieces that began in the middle of a chunk.
  var unsummed: ByteRanges {
    var rest = durable
    for (start, sum) in sums { rest.remove(start..<sum.end) }
    return rest
  }
}

/// Appends to a journal. Keeps no file open: of a thousand queued downloads few are written to.
struct RangeJournalWriter: ~Copyable {
  private let path: String
  private(set) var journal: RangeJournal

  /// Begins a journal in place of what `path` held.
  static func create(_ path: String, _ records: [JournalRecord]) throws(PosixError) -> RangeJournalWriter {
    unlink(path)
    _ = try FileDescriptor(openingRegular: path, O_WRONLY | O_CREAT | O_EXCL)
    var writer = RangeJournalWriter(continuing: path, RangeJournal())
    try writer.append(records, synchronized: false)
    return writer
  }

  /// Goes on with the journal at `path`, which says `journal`, behind its last whole record.
  init(continuing path: String, _ journal: RangeJournal) {
    self.path = path
    self.journal = journal
  }

  /// Appends `records` in one write. Does nothing where somebody has deleted the journal.
  /// - Parameter synchronized: whether to wait until they and all before are on the disk. Records that claim no bytes need
  ///   not.
  mutating func append(_ records: [JournalRecord], synchronized: Bool = true) throws(PosixError) {
    let file: FileDescriptor
    do throws(PosixError) {
      file = try FileDescriptor(openingRegular: path, O_WRONLY)
    } catch {
      if error.errno == .ENOENT { return }
      throw error
    }
    let bytes = records.flatMap(\.framed)
    // A killed program, or a write that failed, may have left anything behind the last whole record.
    try file.truncate(to: journal.length)
    try file.write(bytes, at: journal.length)
    if synchronized { try file.synchronize() }
    for record in records { journal.apply(record) }
    journal.length += Int64(bytes.count)
  }
}
