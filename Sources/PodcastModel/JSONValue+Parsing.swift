/// Text that is no JSON: where it stops being any.
package struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// In bytes from the start.
  package var position: Int

  package var description: String { "no JSON at byte \(position)" }
}

extension JSONValue {
  /// Reads JSON (RFC 8259) from anywhere: never more than `maximumDepth` levels deep. A byte-order mark, raw
  /// control characters in strings and halves of surrogate pairs are forgiven.
  package init(parsing bytes: [UInt8], maximumDepth: Int = 64) throws(JSONSyntaxError) {
    var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth)
    self = try parser.document()
  }

  /// The last member of that name of an object.
  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.0 == name }?.1
  }

  /// The elements of an array; empty for anything else.
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
  let bytes: [UInt8]
  let maximumDepth: Int
  var position = 0

  init(bytes: [UInt8], maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  mutating func document() throws(JSONSyntaxError) -> JSONValue {
    let value = try value(depth: 0)
    skipBlanks()
    guard position == bytes.count else { throw error }
    return value
  }

  private var error: JSONSyntaxError { JSONSyntaxError(position: position) }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    guard depth < maximumDepth else { throw error }
    skipBlanks()
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ text: String, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
    guard bytes[position...].starts(with: text.utf8) else { throw error }
    position += text.utf8.count
    return value
  }

  private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    position += 1
    var members: [(String, JSONValue)] = []
    skipBlanks()
    if take("}") { return .object(members) }
    while true {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw error }
      let name = try string()
      skipBlanks()
      guard take(":") else { throw error }
      members.append((name, try value(depth: depth + 1)))
      skipBlanks()
      if take("}") { return .object(members) }
      guard take(",") else { throw error }
    }
  }

  private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    position += 1
    var elements: [JSONValue] = []
    skipBlanks()
    if take("]") { return .array(elements) }
    while true {
      elements.append(try value(depth: depth + 1))
      skipBlanks()
      if take("]") { return .array(elements) }
      guard take(",") else { throw error }
    }
  }

  private mutating func number() throws(JSONSyntaxError) -> JSONValue {
    let start = position
    while let byte = next, (48...57).contains(byte) || "+-.eE".utf8.contains(byte) { position += 1 }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    // Swift would read "+1" too, and "1." not.
    guard let first = text.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: ".") else {
      throw error
    }
    if let whole = Int64(text) { return .integer(whole) }
    guard let number = Double(text), number.isFinite else { throw error }
    return .number(number)
  }

  private mutating func string() throws(JSONSyntaxError) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): try escape(into: &text)
      default: text.append(byte)
      }
    }
    throw error
  }

  private mutating func escape(into text: inout [UInt8]) throws(JSONSyntaxError) {
    guard let byte = next else { throw error }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      let scalar = Unicode.Scalar(try codePoint()) ?? "\u{FFFD}"
      text.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
    default: throw error
    }
  }

  /// The four digits after "\u", and those of a second half where they are the first half of a pair.
  private mutating func codePoint() throws(JSONSyntaxError) -> UInt32 {
    let first = try fourDigits()
    guard (0xD800...0xDBFF).contains(first), bytes[position...].starts(with: [0x5C, 0x75]) else {
      return first
    }
    let back = position
    position += 2
    let second = try fourDigits()
    guard (0xDC00...0xDFFF).contains(second) else {
      position = back
      return first
    }
    return 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
  }

  private mutating func fourDigits() throws(JSONSyntaxError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw error }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }
}
