/// What a search's directory name asks for: words, and parameters like `country:de limit:20` among them
/// (Documentation/Semantics.md, Verbs). A word with a colon that is none of these stays a word.
package struct SearchQuery: Hashable, Sendable {
  /// The words without the parameters, single blanks between them; may be empty.
  package var terms: String
  /// ISO 3166-1 alpha-2, lower-case.
  package var country: String?
  /// 1 to 200.
  package var limit: Int?
  /// RFC 5646 language tag, lower-case with "-".
  package var language: String?
  /// Apple's number of the one podcast that is meant.
  package var appleID: Int64?
  /// Where to search, as written after `source:` (`knownSources`), lower-case; empty for the usual places.
  package var sources: [String] = []

  package init(terms: String) { self.terms = terms }

  /// Reads a query as the user wrote it. The last of several `country:`, `limit:` or `lang:` counts; several
  /// sources may be given in one (`source:apple,local`) or more words.
  package init(parsing text: String) {
    terms = ""
    var words: [Substring] = []
    for word in text.split(whereSeparator: \.isWhitespace) where !take(word) { words.append(word) }
    terms = words.joined(separator: " ")
  }

  /// Whether `word` is a parameter, which then is set.
  private mutating func take(_ word: Substring) -> Bool {
    guard let colon = word.firstIndex(of: ":") else { return false }
    let value = word[word.index(after: colon)...].lowercased()
    switch word[..<colon].lowercased() {
    case "country":
      guard value.utf8.count == 2, value.utf8.allSatisfy(HTMLReader.isLetter) else { return false }
      country = value
    case "limit":
      guard let number = Int(value), number > 0 else { return false }
      limit = min(number, 200)
    case "id":
      guard let number = Int64(value), number > 0 else { return false }
      appleID = number
    case "lang":
      let tag = value.replacing("_", with: "-")
      guard (2...35).contains(tag.utf8.count),
        tag.utf8.allSatisfy({ HTMLReader.isLetter($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-") })
      else { return false }
      language = tag
    case "source":
      let names = value.split(whereSeparator: { $0 == "," || $0 == "+" }).map(String.init)
      guard !names.isEmpty, names.allSatisfy(Self.knownSources.contains) else { return false }
      sources += names.filter { !sources.contains($0) }
    default: return false
    }
    return true
  }

  /// What may stand after `source:`.
  package static let knownSources: Set<String> = ["apple", "index", "local", "all"]
}
