/// Text that is no JSON.
package struct JSONSyntaxError: Error {}

extension JSONValue {
  /// Reads JSON (RFC 8259) from anywhere: never more than `maximumDepth` levels deep. A byte-order mark, raw
  /// control characters in strings and halves of surrogate pairs are taken.
  package init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONSyntaxError) {
    var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth)
    self = try parser.document()
  }

  /// The last member of that name of an object.
  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.0 == name }?.1
  }

  package var elements: [JSONValue] {
    if case .array(let elements) = self { return elements }
    return []
  }

  /// A string that is not empty; a number as its text.
  package var text: String? {
    switch self {
    case .string(let text): text.isEmpty ? nil : text
    case .integer(let number): String(number)
    case .number(let number): "\(number)"
    default: nil
    }
  }

  /// A whole number, also one written as a string.
  package var wholeNumber: Int64? {
    switch self {
    case .integer(let number): number
    case .number(let number): Int64(exactly: number)
    case .string(let text): Int64(text)
    default: nil
    }
  }

  /// A number, also one written as a string.
  package var decimal: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    case .string(let text): Double(text)
    default: nil
    }
  }

  /// A truth value, also as 0 and 1.
  package var flag: Bool? {
    switch self {
    case .bool(let flag): flag
    case .integer(let number): number != 0
    default: nil
    }
  }
}

private struct JSONParser {
  private var rest: ArraySlice<UInt8>
  private let maximumDepth: Int

  init(bytes: [UInt8], maximumDepth: Int) {
    rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
    self.maximumDepth = maximumDepth
  }

  mutating func document() throws(JSONSyntaxError) -> JSONValue {
    let value = try value(depth: 0)
    skipBlanks()
    guard rest.isEmpty else { throw JSONSyntaxError() }
    return value
  }

  private mutating func skipBlanks() { rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) } }

  private mutating func take(_ word: String) -> Bool {
    guard rest.starts(with: word.utf8) else { return false }
    rest = rest.dropFirst(word.utf8.count)
    return true
  }

  private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    guard depth < maximumDepth else { throw JSONSyntaxError() }
    skipBlanks()
    if take("true") { return .bool(true) }
    if take("false") { return .bool(false) }
    if take("null") { return .null }
    if take("\"") { return .string(try string()) }
    if take("[") {
      var elements: [JSONValue] = []
      try list(until: "]") { parser throws(JSONSyntaxError) in
        elements.append(try parser.value(depth: depth + 1))
      }
      return .array(elements)
    }
    guard take("{") else { return try number() }
    var members: [(String, JSONValue)] = []
    try list(until: "}") { parser throws(JSONSyntaxError) in
      guard parser.take("\"") else { throw JSONSyntaxError() }
      let name = try parser.string()
      parser.skipBlanks()
      guard parser.take(":") else { throw JSONSyntaxError() }
      members.append((name, try parser.value(depth: depth + 1)))
    }
    return .object(members)
  }

  private mutating func list(
    until end: String, _ element: (inout JSONParser) throws(JSONSyntaxError) -> Void
  ) throws(JSONSyntaxError) {
    skipBlanks()
    if take(end) { return }
    while true {
      skipBlanks()
      try element(&self)
      skipBlanks()
      if take(end) { return }
      guard take(",") else { throw JSONSyntaxError() }
    }
  }

  private mutating func number() throws(JSONSyntaxError) -> JSONValue {
    let digits = rest.prefix { (48...57).contains($0) || "+-.eE".utf8.contains($0) }
    let text = String(decoding: digits, as: UTF8.self)
    rest = rest.dropFirst(digits.count)
    // Swift would read "+1" too, and "1." not.
    guard let first = text.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: ".") else {
      throw JSONSyntaxError()
    }
    if let whole = Int64(text) { return .integer(whole) }
    guard let number = Double(text), number.isFinite else { throw JSONSyntaxError() }
    return .number(number)
  }

  private mutating func string() throws(JSONSyntaxError) -> String {
    var text: [UInt8] = []
    while true {
      let plain = rest.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
      text += plain
      rest = rest.dropFirst(plain.count)
      if take("\"") { return String(decoding: text, as: UTF8.self) }
      guard take("\\"), let kind = rest.popFirst() else { throw JSONSyntaxError() }
      if kind == UInt8(ascii: "u") {
        text += String(Unicode.Scalar(try codePoint()) ?? "\u{FFFD}").utf8
      } else if let place = Self.escapes.firstIndex(of: kind) {
        text.append(Self.escaped[place])
      } else {
        throw JSONSyntaxError()
      }
    }
  }

  private static let escapes = Array("\"\\/bfnrt".utf8)
  private static let escaped = Array("\"\\/\u{8}\u{C}\n\r\t".utf8)

  /// The four digits after "\u", and those of a second half where they are the first half of a pair.
  private mutating func codePoint() throws(JSONSyntaxError) -> UInt32 {
    let first = try fourDigits()
    let back = rest
    guard (0xD800...0xDBFF).contains(first), take("\\u") else { return first }
    let second = try fourDigits()
    if (0xDC00...0xDFFF).contains(second) { return 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00) }
    rest = back
    return first
  }

  private mutating func fourDigits() throws(JSONSyntaxError) -> UInt32 {
    let values = rest.prefix(4).compactMap(Hexadecimal.value)
    guard values.count == 4 else { throw JSONSyntaxError() }
    rest = rest.dropFirst(4)
    return values.reduce(0) { $0 << 4 | UInt32($1) }
  }
}
