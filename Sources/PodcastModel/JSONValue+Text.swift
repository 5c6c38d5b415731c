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
    case .integer(let number): bytes += String(number).utf8
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

  /// Escapes what RFC 8259 §7 demands, and DEL and the line separators U+2028 and U+2029, which terminals
  /// and JavaScript take badly.
  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": bytes += #"\""#.utf8
      case "\\": bytes += #"\\"#.utf8
      case "\n": bytes += #"\n"#.utf8
      case "\r": bytes += #"\r"#.utf8
      case "\t": bytes += #"\t"#.utf8
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        bytes += #"\u"#.utf8
        bytes += String(repeating: "0", count: 4 - digits.utf8.count).utf8
        bytes += digits.utf8
      default: bytes += UTF8.encode(scalar).unsafelyUnwrapped
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
