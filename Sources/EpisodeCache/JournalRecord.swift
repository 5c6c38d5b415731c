internal import PodcastModel

/// One entry of a generation's journal.
enum JournalRecord: Hashable {
  /// Which representation the bytes are of; the last one holds (a total may be learnt late).
  case representation(Representation)
  /// These bytes are on the disk.
  case range(Range<Int64>)

  /// `length` of kind and payload, kind, payload, CRC-32 of the three; integers little-endian.
  var encoded: [UInt8] {
    var body: [UInt8] = []
    switch self {
    case .representation(let value):
      body.append(1)
      body.append(integer: value.total ?? -1)
      for text in [value.entityTag, value.lastModified, value.finalURL] {
        let bytes = Array((text ?? "").utf8.prefix(Self.longestText))
        body.append(integer: UInt32(bytes.count))
        body += bytes
      }
    case .range(let range):
      body.append(2)
      body.append(integer: range.lowerBound)
      body.append(integer: range.upperBound)
    }
    var record: [UInt8] = []
    record.append(integer: UInt32(body.count))
    record += body
    record.append(integer: CRC32.checksum(record))
    return record
  }

  /// Longer validators and addresses are cut, which makes them match nothing: safe.
  private static let longestText = 8192

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
      checksum == CRC32.checksum(bytes.prefix(length - 4)), let kind = body.popFirst()
    else { return nil }
    switch kind {
    case 1:
      guard let total: Int64 = body.takeInteger(), let tag = body.takeText(), let date = body.takeText(),
        let url = body.takeText()
      else { return nil }
      return (
        .representation(
          Representation(
            total: total < 0 ? nil : total, entityTag: tag.isEmpty ? nil : tag,
            lastModified: date.isEmpty ? nil : date, finalURL: url)), length
      )
    case 2:
      guard let lower: Int64 = body.takeInteger(), let upper: Int64 = body.takeInteger(), lower >= 0,
        lower <= upper
      else { return nil }
      return (.range(lower..<upper), length)
    default: return nil
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(integer value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
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
}
