internal import PodcastModel
internal import PosixKit

/// One entry of a generation's journal.
///
/// Kinds 1 and 2 are those of the first version; a program that does not know a kind reads no further.
enum JournalRecord: Hashable {
  /// Which representation the bytes are of; the last one holds (a total may be learnt late).
  case representation(Representation)
  /// These bytes are on the disk.
  case range(Range<Int64>)
  /// CRC-32C of bytes that are on the disk, from the start of a chunk (`RangeJournal.chunk`) on; the last one of
  /// a chunk holds.
  case sum(start: Int64, Checksum)
  /// The data file's inode and time of modification when the records before were true.
  case place(RangeJournal.Place)
  /// These bytes were found to be others than they were: they are not there.
  case lost(Range<Int64>)
  /// What the journal's owner wants to find again; the last one holds.
  case note([UInt8])
  /// Tells this journal from another one of the same name.
  case identity(UInt64)

  private enum Kind: UInt8 {
    case representation = 1, range, sum, place, lost, note, identity
  }

  /// `length` of kind and payload, kind, payload, CRC-32 of the three; integers little-endian.
  var encoded: [UInt8] {
    var body: [UInt8] = []
    switch self {
    case .representation(let value):
      body.append(Kind.representation.rawValue)
      body.append(integer: value.total ?? -1)
      for text in [value.entityTag, value.lastModified, value.finalURL] {
        let bytes = Array((text ?? "").utf8.prefix(Self.longestText))
        body.append(integer: UInt32(bytes.count))
        body += bytes
      }
    case .range(let range): body.append(Kind.range.rawValue, range)
    case .sum(let start, let sum):
      body.append(Kind.sum.rawValue, start..<sum.end)
      body.append(integer: sum.crc.value)
    case .place(let place):
      body.append(Kind.place.rawValue)
      body.append(integer: place.inode)
      body.append(integer: place.modified)
    case .lost(let range): body.append(Kind.lost.rawValue, range)
    case .note(let bytes): body += [Kind.note.rawValue] + bytes.prefix(Self.longestNote)
    case .identity(let value):
      body.append(Kind.identity.rawValue)
      body.append(integer: value)
    }
    var record: [UInt8] = []
    record.append(integer: UInt32(body.count))
    record += body
    record.append(integer: CRC32C.checksum(record[...]))
    return record
  }

  /// Longer validators and addresses are cut, which makes them match nothing: safe.
  private static let longestText = 8192
  static let longestNote = 3 * longestText

  /// The record at the head of `bytes`, and how long it is; nil where none is whole and right.
  static func decode(_ bytes: ArraySlice<UInt8>) -> (record: JournalRecord, length: Int)? {
    var cursor = bytes
    guard let size: UInt32 = cursor.takeInteger(), size >= 1, size <= 4 * longestText,
      cursor.count >= Int(size) + 4
    else { return nil }
    var body = cursor.prefix(Int(size))
    cursor = cursor.dropFirst(Int(size))
    let length = 4 + Int(size) + 4
    guard let checksum: UInt32 = cursor.takeInteger(),
      checksum == CRC32C.checksum(bytes.prefix(length - 4)),
      let kind = body.popFirst().flatMap(Kind.init(rawValue:)), let record = decode(kind, &body)
    else { return nil }
    return (record, length)
  }

  private static func decode(_ kind: Kind, _ body: inout ArraySlice<UInt8>) -> JournalRecord? {
    switch kind {
    case .representation:
      guard let total: Int64 = body.takeInteger(), let tag = body.takeText(), let date = body.takeText(),
        let url = body.takeText()
      else { return nil }
      return .representation(
        Representation(
          total: total < 0 ? nil : total, entityTag: tag.isEmpty ? nil : tag,
          lastModified: date.isEmpty ? nil : date, finalURL: url))
    case .range: return body.takeRange().map { .range($0) }
    case .sum:
      guard let range = body.takeRange(), let value: UInt32 = body.takeInteger(),
        range.lowerBound % RangeJournal.chunk == 0, !range.isEmpty, range.count <= RangeJournal.chunk
      else { return nil }
      return .sum(start: range.lowerBound, Checksum(end: range.upperBound, crc: .init(value)))
    case .place:
      guard let inode: UInt64 = body.takeInteger(), let modified: Int64 = body.takeInteger() else {
        return nil
      }
      return .place(RangeJournal.Place(inode: inode, modified: modified))
    case .lost: return body.takeRange().map { .lost($0) }
    case .note: return .note(Array(body))
    case .identity: return body.takeInteger().map { .identity($0) }
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(integer value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func append(_ kind: UInt8, _ range: Range<Int64>) {
    append(kind)
    append(integer: range.lowerBound)
    append(integer: range.upperBound)
  }
}

extension ArraySlice<UInt8> {
  fileprivate mutating func takeInteger<I: FixedWidthInteger>() -> I? {
    let size = MemoryLayout<I>.size
    guard count >= size else { return nil }
    var value: I = 0
    for byte in prefix(size).reversed() { value = value << 8 | I(truncatingIfNeeded: byte) }
    removeFirst(size)
    return value
  }

  fileprivate mutating func takeText() -> String? {
    guard let size: UInt32 = takeInteger(), count >= Int(size) else { return nil }
    defer { removeFirst(Int(size)) }
    return String(decoding: prefix(Int(size)), as: UTF8.self)
  }

  fileprivate mutating func takeRange() -> Range<Int64>? {
    guard let lower: Int64 = takeInteger(), let upper: Int64 = takeInteger(), lower >= 0, lower <= upper
    else { return nil }
    return lower..<upper
  }
}
