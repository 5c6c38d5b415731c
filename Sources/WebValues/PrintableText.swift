/// Text of strangers as it may stand on a terminal or in a log: nothing in it moves the cursor, hides what stands
/// beside it or turns it round. The one gate for what the programs print.
package enum PrintableText {
  /// On one line: each run of line breaks and tabs is a blank, and no other control character is left.
  package static func line(_ text: String) -> String {
    if isPlain(text.utf8, but: []) { return text }
    let lines = text.unicodeScalars.split(whereSeparator: breaksLine).enumerated().map { place, line in
      var output = String.UnicodeScalarView()
      output.append(contentsOf: line.drop { place > 0 && $0 == " " }.filter { !isHarmful($0) })
      return String(output)
    }
    return lines.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// With its line breaks.
  /// - Parameter keepsStyle: whether sequences that set colours and weight stay (SGR, ECMA-48 §8.3.117): they move
  ///   nothing.
  package static func block(_ text: String, keepsStyle: Bool = false) -> String {
    if isPlain(text.utf8, but: [0x0A]) { return text }
    var output = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.first {
      if keepsStyle, scalar == "\u{1B}", let length = styleLength(rest) {
        output.append(contentsOf: rest.prefix(length))
        rest = rest.dropFirst(length)
        continue
      }
      if scalar == "\n" || scalar == "\t" || !isHarmful(scalar) { output.append(scalar) }
      rest = rest.dropFirst()
    }
    return String(output)
  }

  /// What most text is: printable ASCII, and bytes that are allowed besides.
  private static func isPlain(_ bytes: String.UTF8View, but allowed: [UInt8]) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F || allowed.contains($0) }
  }

  private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09...0x0D, 0x85, 0x2028, 0x2029: true
    default: false
    }
  }

  /// Controls (C0, DEL, C1), separators of lines, marks of direction, and whatever else is not seen; but for the
  /// joiners that hold emoji and some scripts together.
  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: return true
    case .format: return scalar.value != 0x200C && scalar.value != 0x200D
    default: return false
    }
  }

  /// The length of the style sequence at the start: ESC, "[", digits and semicolons, "m".
  private static func styleLength(_ text: Substring.UnicodeScalarView) -> Int? {
    let body = text.dropFirst()
    guard body.first == "[" else { return nil }
    let parameters = body.dropFirst().prefix(32).prefix { ("0"..."9").contains($0) || $0 == ";" }
    guard body.dropFirst(1 + parameters.count).first == "m" else { return nil }
    return parameters.count + 3
  }
}
