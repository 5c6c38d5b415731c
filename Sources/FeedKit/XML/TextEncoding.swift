internal import PodcastModel

/// How a document's bytes stand for characters.
enum TextEncoding: Hashable {
  case utf8
  case windows1252
  /// Any other that libxml2 or the C library knows, by its name.
  case other(String)

  /// The encoding of a document by the first of: byte-order mark, XML declaration, what HTTP said, UTF-8.
  /// - Parameters:
  ///   - head: the document's first bytes, 1 KiB where it has so much.
  ///   - httpCharset: the `charset` of the Content-Type, where there is one.
  /// - Returns: the encoding, and how many bytes the byte-order mark has.
  static func detect(_ head: [UInt8], httpCharset: String?) -> (encoding: TextEncoding, markLength: Int) {
    if head.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
    if head.starts(with: [0xFF, 0xFE, 0, 0]) { return (.other("UTF-32LE"), 4) }
    if head.starts(with: [0, 0, 0xFE, 0xFF]) { return (.other("UTF-32BE"), 4) }
    if head.starts(with: [0xFF, 0xFE]) { return (.other("UTF-16LE"), 2) }
    if head.starts(with: [0xFE, 0xFF]) { return (.other("UTF-16BE"), 2) }
    if head.count >= 4, head[1] == 0, head[3] == 0, head[0] != 0 { return (.other("UTF-16LE"), 0) }
    if head.count >= 4, head[0] == 0, head[2] == 0, head[1] != 0 { return (.other("UTF-16BE"), 0) }
    if let declared = declaredName(head), let found = named(declared) { return (found, 0) }
    if let httpCharset, let found = named(httpCharset) { return (found, 0) }
    return (.utf8, 0)
  }

  /// The encoding of a name as documents and servers write it; nil for one that cannot be meant, as the
  /// name was read in an encoding of single bytes.
  private static func named(_ name: String) -> TextEncoding? {
    let key = name.lowercased().filter { !" \"'".contains($0) }
    switch key {
    case "utf-8", "utf8", "us-ascii", "ascii": return .utf8
    case "iso-8859-1", "iso8859-1", "iso_8859-1", "iso88591", "latin1", "latin-1", "l1", "windows-1252",
      "cp1252", "cp-1252", "x-cp1252", "win-1252", "ansi":
      return .windows1252
    case "gb2312", "gbk", "x-gbk": return .other("GB18030")
    case "shift_jis", "shift-jis", "sjis", "x-sjis": return .other("CP932")
    case "euc-kr", "ks_c_5601-1987": return .other("CP949")
    case "iso-8859-9": return .other("CP1254")
    case "", "binary", "none", "unicode": return nil
    default:
      if key.hasPrefix("utf-") || key.hasPrefix("utf1") || key.hasPrefix("ucs") { return nil }
      return isName(key) && TextDecoder.isKnown(key) ? .other(key) : nil
    }
  }

  /// Decoders are files: what a stranger writes must be a mere name.
  private static func isName(_ key: String) -> Bool {
    key.utf8.count <= 40 && key.utf8.allSatisfy { HTMLReader.isName($0) && $0 != UInt8(ascii: ".") }
  }

  /// The encoding that the XML declaration names.
  private static func declaredName(_ head: [UInt8]) -> String? {
    let start = head.drop { $0 <= 0x20 }
    guard start.starts(with: "<?xml".utf8) else { return nil }
    let declaration = start.prefix { $0 != UInt8(ascii: ">") }
    let key = Array("encoding".utf8)
    guard let found = declaration.indices.first(where: { declaration[$0...].starts(with: key) }) else {
      return nil
    }
    var rest = declaration[(found + key.count)...].drop { $0 <= 0x20 || $0 == UInt8(ascii: "=") }
    guard let quote = rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      return nil
    }
    return String(decoding: rest.prefix { $0 != quote }, as: UTF8.self)
  }
}
