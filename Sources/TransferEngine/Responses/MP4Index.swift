/// Where an MP4 file has its index (`moov`), without which no player can begin (ISO/IEC 14496-12 §4.2, §8.2).
package enum MP4Index {
  /// The range of what is behind the media data, where the index comes after it; nil where it is before, or
  /// the file is none, or too much lies there to be an index.
  /// - Parameters:
  ///   - start: the file's first bytes.
  ///   - total: its size.
  package static func trailing(_ start: [UInt8], total: Int64) -> Range<Int64>? {
    var offset: Int64 = 0
    var isFirst = true
    while let box = box(at: offset, in: start) {
      guard isFirst == (box.type == "ftyp") else { return nil }
      isFirst = false
      if box.type == "moov" || box.size < 8 { return nil }
      let (end, overflow) = offset.addingReportingOverflow(box.size)
      guard !overflow, end < total else { return nil }
      if box.type == "mdat" { return total - end <= longest ? end..<total : nil }
      offset = end
    }
    return nil
  }

  private static let longest: Int64 = 16 << 20

  /// Type and size of the box at `offset`; nil where its head is not in `bytes`.
  private static func box(at offset: Int64, in bytes: [UInt8]) -> (type: String, size: Int64)? {
    guard let start = Int(exactly: offset), start <= bytes.count - 8 else { return nil }
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    let type = String(decoding: bytes[start + 4..<start + 8], as: UTF8.self)
    var size = number(start..<start + 4)
    // 1: a size of 64 bits follows; 0: to the end of the file.
    if size == 1 {
      guard start + 16 <= bytes.count else { return nil }
      size = number(start + 8..<start + 16)
    }
    return Int64(exactly: size).map { (type, $0) }
  }
}
