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
    let isPlain = text.withUTF8 { $0.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C } }
    if isPlain { bytes += text.utf8 } else { for scalar in text.unicodeScalars { write(scalar) } }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func write(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    case 0x22, 0x5C: bytes += [0x5C, UInt8(scalar.value)]
    case 0x0A: bytes += "\\n".utf8
    case 0x0D: bytes += "\\r".utf8
    case 0x09: bytes += "\\t".utf8
    case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
      bytes += "\\u".utf8
      for shift: UInt32 in [12, 8, 4, 0] {
        bytes.append(Hexadecimal.digit(UInt8(scalar.value >> shift & 15)))
      }
    default: bytes += UTF8.encode(scalar).unsafelyUnwrapped
    }
  }
}
