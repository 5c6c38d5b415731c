/// Compares words without regard to case, marks of letters, and the spelling of Latin letters.
package enum WordMatch {
  /// Letters as they are compared: "Łódź Straße" as "lodz strasse".
  package static func folded(_ text: String) -> String {
    LatinLetters.simple(text.withoutAnyMarks).lowercased()
  }

  /// Whether the words of `phrase` stand in `text` one after the other, as whole words.
  package static func contains(_ phrase: String, in text: String) -> Bool {
    let wanted = words(phrase)
    return wanted.isEmpty || words(text).contains(wanted)
  }

  package static func words(_ text: String) -> [String] {
    folded(text).split(whereSeparator: { !$0.isLetter && !$0.isNumber }).map(String.init)
  }
}
