internal import PosixKit

/// Text in a terminal's columns.
package enum ColumnText {
  /// The columns that text takes: East Asian wide characters and emoji take two (Unicode UAX #11).
  package static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

  /// Exactly so many columns: cut with "…", or with blanks behind it.
  package static func fitted(_ text: String, _ columns: Int) -> String {
    let text = cut(text, columns)
    return text + blanks(columns - width(text))
  }

  /// So many columns at most: cut with "…".
  package static func cut(_ text: String, _ columns: Int) -> String {
    let text = PrintableText.line(text)
    if width(text) <= columns { return text }
    var result = ""
    var left = columns - 1
    for character in text {
      left -= width(character)
      if left < 0 { break }
      result.append(character)
    }
    return columns < 1 ? "" : result + "…"
  }

  /// With blanks before it.
  package static func right(_ text: String, _ columns: Int) -> String { blanks(columns - width(text)) + text }

  private static func blanks(_ count: Int) -> String { String(repeating: " ", count: max(count, 0)) }

  private static func width(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    if scalar.properties.isEmojiPresentation { return 2 }
    switch scalar.value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
      0xff00...0xff60, 0xffe0...0xffe6, 0x20000...0x3fffd:
      return 2
    default: return 1
    }
  }
}
