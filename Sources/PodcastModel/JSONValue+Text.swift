extension JSONValue {
  /// Without white space, on one line.
  package var compactText: String {
    var writer = JSONWriter(isIndented: false)
    writer.write(self, depth: 0)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// With two blanks for each level and a member a line; no newline at its end.
  package var indentedText: String {
    var writer = JSONWriter(isIndented: true)
    writer.write(self, depth: 0)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// Collects the text of one value.
private struct JSONWriter {
  let isIndented: Bool
  var bytes: [UInt8] = []

  init(isIndented: Bool) { self.isIndented = isIndented }

  mutating func write(_ value: JSONValue, depth: Int) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let flag): bytes += (flag ? "true" : "false").utf8
    case .integer(let number): bytes += number.description.utf8
    case .number(let number): bytes += (number.isFinite ? "\(number)" : "null").utf8
    case .string(let text): write(text)
    case .array(let elements):
      writeList("[", "]", elements, depth) { writer, element in writer.write(element, depth: depth + 1) }
    case .object(let members):
      writeList("{", "}", members, depth) { writer, member in
        writer.write(member.0)
        writer.bytes += (writer.isIndented ? ": " : ":").utf8
        writer.write(member.1, depth: depth + 1)
      }
    }
  }

  private mutating func writeList<Element>(
    _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ elements: [Element], _ depth: Int,
    _ writeElement: (inout JSONWriter, Element) -> Void
  ) {
    bytes.append(UInt8(ascii: opening))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      breakLine(depth + 1)
      writeElement(&self, element)
    }
    if !elements.isEmpty { breakLine(depth) }
    bytes.append(UInt8(ascii: closing))
  }

  private mutating func breakLine(_ depth: Int) {
    guard isIndented else { return }
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
  }

  /// Escapes what RFC 8259 §7 demands, and DEL, the controls after it, line separators (U+2028, U+2029) and marks of
  /// direction, which terminals and JavaScript take badly.
  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { writeEscaped($0) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether 0xE2 and these bytes are U+200E, U+200F, U+2028 to U+202E or U+2066 to U+2069.
  private static func isHarmful(_ second: UInt8, _ third: UInt8) -> Bool {
    switch (second, third) {
    case (0x80, 0x8E...0x8F), (0x80, 0xA8...0xAE), (0x81, 0xA6...0xA9): true
    default: false
    }
  }

  private mutating func writeEscaped(_ text: UnsafeBufferPointer<UInt8>) {
    var copied = 0
    var index = 0
    while index < text.count {
      let byte = text[index]
      var length = 1
      var code = UInt16(byte)
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20, 0x7F: break
      case 0xC2 where text[index + 1] < 0xA0:
        (length, code) = (2, UInt16(text[index + 1]))
      case 0xD8 where text[index + 1] == 0x9C: (length, code) = (2, 0x061C)
      case 0xE2 where Self.isHarmful(text[index + 1], text[index + 2]):
        (length, code) = (3, 0x2000 | UInt16(text[index + 1] & 0x3F) << 6 | UInt16(text[index + 2] & 0x3F))
      default:
        index += 1
        continue
      }
      bytes.append(contentsOf: text[copied..<index])
      writeEscape(code)
      index += length
      copied = index
    }
    bytes.append(contentsOf: text[copied...])
  }

  private mutating func writeEscape(_ code: UInt16) {
    bytes.append(UInt8(ascii: "\\"))
    switch code {
    case 0x22, 0x5C: bytes.append(UInt8(code))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default:
      bytes.append(UInt8(ascii: "u"))
      for shift: UInt16 in [12, 8, 4, 0] { bytes.append(Hexadecimal.digit(UInt8(code >> shift & 15))) }
    }
  }
}
