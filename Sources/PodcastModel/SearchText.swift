/// Text as the full-text index holds it.
///
/// The index keeps no copy of the texts: to take one out, exactly the same text must be given to it. A change of
/// these rules, or of `PlainText`, `TitleText`, `LatinLetters`, therefore needs another `Schema.version`.
package enum SearchText {
  /// What of a long text is indexed, in bytes.
  package static let limit = 16 * 1024

  /// Without markup, and with blanks between the characters of scripts that are written without any, so that
  /// each is a word of its own.
  package static func indexed(_ text: String) -> String {
    var text = text
    return folded(text.withUTF8 { PlainText.words(UnsafeBufferPointer(rebasing: $0.prefix(limit))) })
  }

  /// Words as the index has them: without the marks of letters that its tokenizer leaves (it knows those of Latin ones), in
  /// letters of English (`LatinLetters`), and with blanks between characters that are words of their own.
  private static func folded(_ text: String) -> String { separated(LatinLetters.simple(text.withoutMarks)) }

  private static func words(_ terms: String) -> [Substring] {
    terms.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
  }

  /// A full-text query for all words of `terms`, each perhaps the beginning of one; nil where there is no word
  /// (https://sqlite.org/fts5.html#full_text_query_syntax).
  /// - Parameter isAtStart: the text begins with the first word.
  package static func query(_ terms: String, isAtStart: Bool = false) -> String? {
    let words = words(terms)
    if words.isEmpty { return nil }
    return words.enumerated().map { place, word in
      let mark = isAtStart && place == 0 ? "^" : ""
      return "\(mark)\"\(folded(String(word)))\" *"
    }.joined(separator: " AND ")
  }

  /// Of beginnings of words up to so many characters the directory's index knows at once where they are.
  package static let indexedBeginnings = 3

  /// The words of a query as the index of episodes has them. That index knows no places of words: characters that are
  /// words of their own must all be there, in any order.
  package static func episodeWords(_ terms: String) -> [String] {
    words(terms).flatMap { word in
      folded(String(word)).unicodeScalars.split { !isPartOfWord($0) }.map(String.init)
    }
  }

  /// Whether the index's tokenizer (unicode61) takes it for a part of a word. It parts words of Devanagari and its like at
  /// their vowel signs.
  private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber, .privateUse:
      true
    default: (0x300...0x36F).contains(scalar.value)
    }
  }

  private static func separated(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isWrittenWithoutBlanks) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let stands = isWrittenWithoutBlanks(scalar)
      if stands { result.append(" ") }
      result.append(scalar)
      if stands { result.append(" ") }
    }
    return String(result)
  }

  /// Thai, Lao, Khmer, Burmese, Kana and Han.
  private static func isWrittenWithoutBlanks(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0E01...0x0E30, 0x0E81...0x0EB0, 0x1000...0x102A, 0x1780...0x17B3, 0x3041...0x30FF,
      0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF:
      true
    default: false
    }
  }
}
