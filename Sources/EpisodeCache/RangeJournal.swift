internal import Glibc
package import PodcastModel
internal import PosixKit

/// What a generation's journal says: which representation it is of, and which of its bytes are on the disk.
///
/// The journal is a file of records that is only ever appended to, after the data they speak of has been
/// synchronized. A record that a crash cut off, and all behind it, counts for nothing.
package struct RangeJournal: Hashable, Sendable {
  package var representation: Representation?
  package var durable = ByteRanges()
  /// How many bytes of the file are whole records.
  package var length: Int64 = 0

  package init() {}

  /// Reads the journal at `path`; one that is missing says nothing.
  package init(reading path: String) {
    guard let bytes = try? Directories.read(path) else { return }
    var rest = bytes[...]
    while let (record, size) = JournalRecord.decode(rest) {
      switch record {
      case .representation(let value): representation = value
      case .range(let range): durable.insert(range)
      }
      rest = rest.dropFirst(size)
      length += Int64(size)
    }
  }
}

/// Appends to a journal.
struct RangeJournalWriter: ~Copyable {
  private let file: FileDescriptor
  private var end: Int64

  /// Opens the journal at `path` behind its last whole record, and drops what is torn.
  init(continuing path: String, _ journal: RangeJournal) throws(PosixError) {
    let opened = try FileDescriptor(opening: path, O_RDWR | O_CREAT)
    try opened.truncate(to: journal.length)
    file = opened
    end = journal.length
  }

  /// Appends `records` in one write. `synchronized`: waits until they and all before are on the disk; what
  /// claims no bytes need not.
  mutating func append(_ records: [JournalRecord], synchronized: Bool = true) throws(PosixError) {
    let bytes = records.flatMap(\.encoded)
    // At a position of our own: after a write that failed half-way (ENOSPC) the next one overwrites it.
    try file.write(bytes, at: end)
    if synchronized { try file.synchronize() }
    end += Int64(bytes.count)
  }
}
