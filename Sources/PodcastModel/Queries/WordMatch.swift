/// Compares words without regard to case, marks of letters, and the spelling of Latin letters.
package enum WordMatch {
  /// Letters as they are compared: "Łódź Straße" as "lodz strasse".
  package static func folded(_ text: String) -> String {
    LatinLetters.simple(text.withoutAnyMarks).lowercased()
  }

  /// Whether the words of `phrase` stand in `text` one after the other, as whole words.
  package static func contains(_ phrase: String, in text: String) -> Bool {
    let wanted = words(phrase)
    let all = words(text)
    if wanted.isEmpty { return true }
    guard all.count >= wanted.count else { return false }
    return (0...(all.count - wanted.count)).contains { all[$0..<($0 + wanted.count)].elementsEqual(wanted) }
  }

  package static func words(_ text: String) -> [String] {
    folded(text).split(whereSeparator: { !$0.isLetter && !$0.isNumber }).map(String.init)
  }
}
