internal import PodcastModel
internal import PosixKit

/// One entry of a generation's journal.
enum JournalRecord: Hashable {
  /// Which representation the bytes are of; the last one holds (a total may be learnt late).
  case representation(Representation)
  /// These bytes are on the disk.
  case range(Range<Int64>)
  /// CRC-32C of bytes that are on the disk, from the start of a chunk (`RangeJournal.chunk`) on; the last one of
  /// a chunk holds.
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
