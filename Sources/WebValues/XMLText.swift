/// Text as it stands in XML (XML 1.0 §2.4).
package enum XMLText {
  /// What XML cannot hold is left out.
  /// - Parameter keepsLines: for text of several lines; else line breaks and tabs become blanks, as in attributes.
  package static func escaped(_ text: String, keepsLines: Bool = false) -> String {
    var output = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": output += "&amp;".unicodeScalars
      case "<": output += "&lt;".unicodeScalars
      case ">": output += "&gt;".unicodeScalars
      case "\"": output += "&quot;".unicodeScalars
      case "\n", "\r", "\t": output.append(keepsLines ? scalar : " ")
      default: if isAllowed(scalar.value) { output.append(scalar) }
      }
    }
    return String(output)
  }

  /// XML 1.0 §2.2, Char.
  package static func isAllowed(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 9, 10, 13, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }
}
