internal import PodcastModel

/// Text as the full-text index holds it.
///
/// The index keeps no copy of the texts: to take one out, it must be told exactly what went in. A change of
/// these rules therefore needs a step in `Schema` that empties and fills the index.
enum SearchText {
  /// What of a long text is indexed, in bytes.
  static let limit = 16 * 1024

  /// Without markup, and with blanks between the characters of scripts that are written without any, so that
  /// each is a word of its own.
  static func indexed(_ text: String) -> String {
    var bytes: [UInt8] = []
    let input = Array(text.utf8.prefix(limit))
    bytes.reserveCapacity(input.count)
    var index = 0
    while index < input.count {
      let byte = input[index]
      if byte == UInt8(ascii: "<"), index + 1 < input.count, startsTag(input[index + 1]),
        let end = input[index...].firstIndex(of: UInt8(ascii: ">"))
      {
        bytes.append(0x20)
        index = end + 1
      } else if byte == UInt8(ascii: "&"), let entity = HTMLEntity.resolve(input[index...]) {
        bytes += entity.text.utf8
        index += entity.length
      } else {
        bytes.append(byte)
        index += 1
      }
    }
    return separated(String(decoding: bytes, as: UTF8.self))
  }

  /// A full-text query for all words of `terms`, each perhaps the beginning of one; nil where there is no word
  /// (https://sqlite.org/fts5.html#full_text_query_syntax).
  static func query(_ terms: String) -> String? {
    let words = terms.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
    if words.isEmpty { return nil }
    return words.map { "\"\(separated(String($0)))\" *" }.joined(separator: " AND ")
  }

  private static func startsTag(_ byte: UInt8) -> Bool {
    (97...122).contains(byte | 0x20) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "!")
  }

  private static func separated(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isWrittenWithoutBlanks) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let stands = isWrittenWithoutBlanks(scalar)
      if stands { result.append(" ") }
      result.append(scalar)
      if stands { result.append(" ") }
    }
    return String(result)
  }

  /// Thai, Lao, Khmer, Burmese, Kana and Han.
  private static func isWrittenWithoutBlanks(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0E01...0x0E30, 0x0E81...0x0EB0, 0x1000...0x102A, 0x1780...0x17B3, 0x3041...0x30FF,
      0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
      true
    default: false
    }
  }
}
