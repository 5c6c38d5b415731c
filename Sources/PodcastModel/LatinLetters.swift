/// Latin letters that are no others with a mark (those Unicode takes apart), in the letters of English, as people type
/// them who do not have them.
package enum LatinLetters {
  /// "Łódź" as "Lódź", "Straße" as "Strasse", "Ødegaard" as "Odegaard".
  package static func simple(_ text: String) -> String {
    // The lead bytes of U+00C0 to U+017F, and of U+1E00 to U+1EFF.
    guard text.utf8.contains(where: { (0xC3...0xC5).contains($0) || $0 == 0xE1 }) else { return text }
    return text.unicodeScalars.reduce(into: "") { $0 += inEnglish[$1] ?? String($1) }
  }

  private static let inEnglish: [Unicode.Scalar: String] = [
    "ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ł": "l", "Ł": "L",
    "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ħ": "h", "Ħ": "H", "ı": "i", "ŧ": "t",
    "Ŧ": "T", "ŋ": "n", "Ŋ": "N", "ĸ": "k", "ſ": "s", "ŀ": "l", "Ŀ": "L",
  ]
}
