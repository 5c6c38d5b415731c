/// Latin letters that are no others with a mark (those Unicode takes apart), in the letters of English: as people type them who
/// do not have them, and as they write instead of a mark.
package enum LatinLetters {
  /// "Łódź" as "Lódź", "Straße" as "Strasse", "Ødegaard" as "Odegaard".
  package static func simple(_ text: String) -> String {
    replaced(text) { inEnglish[$0] }
  }

  /// The same as they are written out: "Øster Ås" as "Oester Aas", "Köln" as "Koeln". Nil where nothing is.
  package static func writtenOut(_ text: String) -> String? {
    let composed = text.inNormalizationFormC
    let result = replaced(composed) { inPairs[$0] ?? inEnglish[$0] }
    return result == simple(composed) ? nil : result
  }

  /// What may have been written out in the letters that `simple` gives, each pair taken back and all: "oedegaard" as
  /// "odegaard", "oedegard" and "odegard", "koeln" as "koln". Empty where nothing was.
  package static func takenBack(_ word: String) -> [String] {
    let word = word.lowercased()
    let pairs = [("aa", "a"), ("ae", "a"), ("oe", "o"), ("ue", "u")].filter { word.contains($0.0) }
    let all = pairs.reduce(word) { $0.replacing($1.0, with: $1.1) }
    return pairs.map { word.replacing($0.0, with: $0.1) } + (pairs.count > 1 ? [all] : [])
  }

  private static func replaced(_ text: String, _ letters: (Unicode.Scalar) -> String?) -> String {
    // The lead bytes of U+00C0 to U+017F, and of U+1E00 to U+1EFF.
    guard text.utf8.contains(where: { (0xC3...0xC5).contains($0) || $0 == 0xE1 }) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if let other = letters(scalar) {
        result.append(contentsOf: other.unicodeScalars)
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }

  private static let inEnglish: [Unicode.Scalar: String] = [
    "ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ł": "l", "Ł": "L",
    "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ħ": "h", "Ħ": "H", "ı": "i", "ŧ": "t",
    "Ŧ": "T",
    "ŋ": "n", "Ŋ": "N", "ĸ": "k", "ſ": "s", "ŀ": "l", "Ŀ": "L",
  ]
  private static let inPairs: [Unicode.Scalar: String] = [
    "ø": "oe", "Ø": "Oe", "ö": "oe", "Ö": "Oe", "ä": "ae", "Ä": "Ae", "ü": "ue", "Ü": "Ue", "å": "aa",
    "Å": "Aa",
  ]
}
