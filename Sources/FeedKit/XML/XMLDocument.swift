internal import CLibXML2
internal import Glibc
internal import PodcastModel

/// A document's bytes, and what decodes them. Making it opens the decoder, which may need files.
final class XMLDocument {
  let bytes: UnsafeRawBufferPointer
  private let encoding: TextEncoding
  private let markLength: Int
  /// Of another encoding than UTF-8 and windows-1252 (iconv(3)).
  private let decoder: iconv_t?

  /// - Parameter httpCharset: the `charset` of the Content-Type, where there is one.
  init(_ bytes: UnsafeRawBufferPointer, httpCharset: String?) {
    self.bytes = bytes
    let head = Array(bytes.prefix(1024))
    if let mark = TextEncoding.marks.first(where: { head.starts(with: $0.bytes) }) {
      (encoding, markLength) = (mark.encoding, mark.bytes.count)
    } else {
      (encoding, markLength) = (.detect(head, httpCharset: httpCharset), 0)
    }
    decoder = if case .other(let name) = encoding { TextEncoding.decoder(name) } else { nil }
  }

  deinit { if let decoder { iconv_close(decoder) } }

  /// Reads the document strictly; where that fails, once more from its start, repaired.
  /// - Parameters:
  ///   - receiver: gets what the document holds, and forgets it where the document is read again.
  ///   - byteLimit: the most bytes that are taken.
  /// - Returns: whether it has come to its end, and what was repaired, one line each.
  func read(
    by receiver: XMLReceiver, byteLimit: Int
  ) throws(FeedError) -> (isWhole: Bool, warnings: [String]) {
    guard bytes.count <= byteLimit else { throw .tooLarge(limit: byteLimit) }
    return try withText { text throws(FeedError) in
      let strict = try XMLPushParser(receiver: receiver, recovers: false)
      strict.parse(UnsafeRawBufferPointer(text))
      strict.finish()
      if !strict.hasFailed { return (true, []) }
      receiver.restart()
      let parser = try XMLPushParser(receiver: receiver, recovers: true)
      var repairer = XMLRepairer(text) { parser.parse($0) }
      let warnings = repairer.run()
      parser.finish()
      let isWhole = parser.openElements == 0
      return (isWhole, warnings + (isWhole ? [] : ["the document breaks off: its complete part is read"]))
    }
  }

  /// The whole text in UTF-8, but for single bytes where it says that it is UTF-8 and is none.
  func withText<Result, Failure>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(markLength)).bindMemory(to: UInt8.self)
    if encoding == .utf8 { return try body(content) }
    var text: [UInt8] = []
    text.reserveCapacity(content.count + content.count / 8)
    if let decoder {
      decode(content, by: decoder, into: &text)
    } else {
      for byte in content {
        if byte < 0x80 { text.append(byte) } else { Windows1252.append(byte, to: &text) }
      }
    }
    return try text.withUnsafeBufferPointer { text throws(Failure) in try body(text) }
  }

  /// Bytes that mean nothing become U+FFFD.
  private func decode(_ content: UnsafeBufferPointer<UInt8>, by decoder: iconv_t, into text: inout [UInt8]) {
    iconv(decoder, nil, nil, nil, nil)
    // iconv only reads from it.
    var input = UnsafeMutableRawPointer(mutating: content.baseAddress)?.assumingMemoryBound(to: CChar.self)
    var rest = content.count
    while rest > 0 {
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65_536) { buffer in
        var (output, room) = (buffer.baseAddress, buffer.count)
        let isDone = iconv(decoder, &input, &rest, &output, &room) != -1
        let isFull = errno == E2BIG
        text.append(contentsOf: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer.dropLast(room))))
        if isDone || isFull { return }
        text.append(contentsOf: "\u{FFFD}".utf8)
        input = input.map { $0 + 1 }
        rest -= 1
      }
    }
  }
}

enum TextEncoding: Hashable {
  case utf8
  case windows1252
  /// Any other that the C library knows, by its name.
  case other(String)

  static let marks: [(bytes: [UInt8], encoding: TextEncoding)] = [
    ([0xEF, 0xBB, 0xBF], .utf8), ([0xFF, 0xFE], .other("UTF-16LE")), ([0xFE, 0xFF], .other("UTF-16BE")),
  ]

  /// Finds the encoding of a document that has no byte order mark, by the first of: zeros among its first bytes, its XML
  /// declaration, the charset of HTTP, UTF-8.
  static func detect(_ head: [UInt8], httpCharset: String?) -> TextEncoding {
    switch head.prefix(4).map({ $0 == 0 }) {
    case [false, true, false, true]: .other("UTF-16LE")
    case [true, false, true, false]: .other("UTF-16BE")
    default: declaredName(head).flatMap(named) ?? httpCharset.flatMap(named) ?? .utf8
    }
  }

  static func decoder(_ name: String) -> iconv_t? {
    let decoder = iconv_open("UTF-8", name)
    return decoder == iconv_t(bitPattern: -1) ? nil : decoder
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
      guard isName(key), let decoder = decoder(key) else { return nil }
      iconv_close(decoder)
      return .other(key)
    }
  }

  /// Decoders are files: what a stranger writes must be a mere name.
  private static func isName(_ key: String) -> Bool {
    key.utf8.count <= 40 && key.utf8.allSatisfy { HTMLReader.isName($0) && $0 != UInt8(ascii: ".") }
  }

  private static func declaredName(_ head: [UInt8]) -> String? {
    let start = head.drop { $0 <= 0x20 }
    guard start.starts(with: "<?xml".utf8) else { return nil }
    let declaration = String(decoding: start.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
    guard let key = declaration.firstRange(of: "encoding") else { return nil }
    let value = declaration[key.upperBound...].drop { $0.isWhitespace || $0 == "=" }
    guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
    return String(value.dropFirst().prefix { $0 != quote })
  }
}
