internal import PodcastModel

/// Text as the full-text index holds it.
///
/// The index keeps no copy of the texts: to take one out, it must be told exactly what went in. A change of
/// these rules therefore needs a step in `Schema` that empties and fills the index.
enum SearchText {
  /// What of a long text is indexed, in bytes.
  static let limit = 16 * 1024

  /// Without markup, and with blanks between the characters of scripts that are written without any, so that
  /// each is a word of its own.
  static func indexed(_ text: String) -> String {
    var text = text
    return folded(text.withUTF8 { PlainText.words(UnsafeBufferPointer(rebasing: $0.prefix(limit))) })
  }

  /// Words as the index has them: without the marks of letters that its tokenizer leaves (it knows those of Latin ones),
  /// and with blanks between characters that are words of their own.
  private static func folded(_ text: String) -> String { separated(text.withoutMarks) }

  /// A full-text query for all words of `terms`, each perhaps the beginning of one; nil where there is no word
  /// (https://sqlite.org/fts5.html#full_text_query_syntax).
  static func query(_ terms: String) -> String? {
    let words = terms.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
    if words.isEmpty { return nil }
    return words.map { "\"\(folded(String($0)))\" *" }.joined(separator: " AND ")
  }

  /// Of beginnings of words up to so many characters the index of episodes knows at once where they are.
  static let indexedBeginnings = 3

  /// The words of a query as the index of episodes has them, which knows no places of words: characters that are words
  /// of their own must all be there, in any order.
  static func episodeWords(_ terms: String) -> [String] {
    terms.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
      .flatMap { folded(String($0)).split(separator: " ") }.map(String.init)
  }

  /// A query for all of these words.
  /// - Parameter asBeginnings: also long ones may be the beginning of a word; short ones may always.
  static func episodeQuery(_ words: [String], asBeginnings: Bool) -> String {
    words.map { word in
      let mayBegin = asBeginnings || word.count <= indexedBeginnings
      return mayBegin ? "\"\(word)\" *" : "\"\(word)\""
    }.joined(separator: " AND ")
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
