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
}

// No file is kept open: of a thousand queued downloads few are written to.
extension RangeJournal {
  init(creating path: String, _ records: [JournalRecord]) throws(PosixError) {
    unlink(path)
    _ = try FileDescriptor(openingRegular: path, O_WRONLY | O_CREAT | O_EXCL)
    self.init()
    try append(records, to: path, synchronized: false)
  }

  /// Appends `records` to the journal at `path`, which this is, in one write. Does nothing where somebody has deleted it.
  /// - Parameter synchronized: whether to wait until they and all before are on the disk. Records that claim no bytes need
  ///   not.
  mutating func append(
    _ records: [JournalRecord], to path: String, synchronized: Bool = true
  ) throws(PosixError) {
    let file: FileDescriptor
    do throws(PosixError) {
      file = try FileDescriptor(openingRegular: path, O_WRONLY)
    } catch {
      if error.errno == .ENOENT { return }
      throw error
    }
    let bytes = records.flatMap(\.framed)
    // A killed program, or a write that failed, may have left anything behind the last whole record.
    try file.truncate(to: length)
    try file.write(bytes, at: length)
    if synchronized { try file.synchronize() }
    for record in records { apply(record) }
    length += Int64(bytes.count)
  }
}

/// One entry of a journal, the file that tells which bytes of a generation are on the disk.
enum JournalRecord: Hashable {
  /// Which representation the bytes are of; the last one holds (a total may be learnt late).
  case representation(Representation)
  /// These bytes are on the disk.
  case range(Range<Int64>)
  /// CRC-32C of bytes that are on the disk, from the start of a chunk on; the last one of a chunk holds.
  case sum(Range<Int64>, CRC32C)
  /// These bytes are not what was written: they are not there.
  case lost(Range<Int64>)
  /// A number by chance, which the live map has too.
  case identity(UInt64)

  /// As it is in the file: the length of the record, the record, CRC-32C of both.
  var framed: [UInt8] {
    let record = encoded
    var bytes: [UInt8] = UInt32(record.count).encoded + record
    bytes.put(CRC32C.checksum(bytes[...]))
    return bytes
  }

  /// The record at the head of `bytes`, and how many bytes it takes; nil where none is whole and right.
  static func decode(_ bytes: ArraySlice<UInt8>) -> (record: JournalRecord, length: Int)? {
    var reader = BinaryReader(bytes)
    guard let size = try? UInt32(from: &reader), let body = try? reader.take(Int(size)),
      let checksum = try? UInt32(from: &reader), checksum == CRC32C.checksum(bytes.prefix(4 + Int(size))),
      let record = try? JournalRecord(decoding: body)
    else { return nil }
    return (record, 8 + Int(size))
  }
}

extension JournalRecord: BinaryValue {
  private enum Kind: UInt8, BinaryValue {
    case representation = 11, range, sum, lost, identity
  }

  func encode(into bytes: inout [UInt8]) {
    switch self {
    case .representation(let value): bytes.put(Kind.representation, value)
    case .range(let range): bytes.put(Kind.range, range)
    case .sum(let range, let sum): bytes.put(Kind.sum, range, sum.value)
    case .lost(let range): bytes.put(Kind.lost, range)
    case .identity(let value): bytes.put(Kind.identity, value)
    }
  }

  init(from reader: inout BinaryReader) throws(BinaryError) {
    switch try Kind(from: &reader) {
    case .representation: self = try reader.make(Self.representation)
    case .range: self = try reader.make(Self.range)
    case .sum: self = .sum(try reader.next(), CRC32C(try reader.next()))
    case .lost: self = .lost(try reader.next())
    case .identity: self = .identity(try reader.next())
    }
  }
}
