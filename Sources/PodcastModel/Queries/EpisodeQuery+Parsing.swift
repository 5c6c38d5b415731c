/// The grammar of queries for episodes. It stands only here.
///
///     query  = term { blank term }
///     term   = "episode:" [ text ]                    words in titles and notes
///            | "show:" text | "person:" text | "transcript:" text
///            | [ "-" ] "is:" state                    unplayed started played cached kept followed queued
///            | "newer:" moment | "older:" moment      7d, 12h, 3w, 2m, 1y, or 2026-01-01 (UTC)
///            | "shorter:" length | "longer:" length   30m, 1h, 1h30, 600
///            | "season:" number
///            | "sort:" ( "newest" | "oldest" | "title" | "shortest" )
///            | "limit:" number                        1,000 at most
///            | text                                   words in titles and notes
///     text   = word | '"' words '"'
///
/// A word with a colon that is none of these is text; a parameter of searches for podcasts (`country:de`) is refused.
extension EpisodeQuery {
  package struct Malformed: Error, Hashable, Sendable, CustomStringConvertible {
    package var term: String
    package var expected: String
    package var description: String { "\(term): \(expected)" }
  }

  /// Reads a query as the user wrote it.
  /// - Returns: nil where no term makes it a query for episodes: it then searches for podcasts.
  /// - Throws: `Malformed` for a bound, a state or an order that cannot be read.
  package init?(parsing text: String) throws(Malformed) {
    var isForEpisodes = false
    var words: [String] = []
    var parameter: String?
    self.init()
    for term in QueryTerm.all(in: text) {
      guard let key = term.key, let kind = Key(rawValue: key), !term.isExcluding || kind == .state else {
        words.append(term.text)
        if parameter == nil, SearchQuery(parsing: term.text).terms.isEmpty, !term.text.isEmpty {
          parameter = term.text
        }
        continue
      }
      // A search for podcasts has a limit, too.
      if kind != .limit { isForEpisodes = true }
      try take(kind, term, words: &words)
    }
    if !isForEpisodes { return nil }
    if let parameter {
      throw Malformed(term: parameter, expected: "only searches for podcasts have this parameter")
    }
    self.words = words.joined(separator: " ")
    // What the user has removed from its subscription is shown nowhere of its own accord.
    excludedStates.insert(.hidden)
  }

  private enum Key: String {
    case words = "episode"
    case show, person, transcript
    case state = "is"
    case newer, older, shorter, longer, season, sort, limit
  }

  private mutating func take(_ key: Key, _ term: QueryTerm, words: inout [String]) throws(Malformed) {
    let value = term.value
    switch key {
    case .words: if !value.isEmpty { words.append(value) }
    case .show: shows.append(try term.filled("a word of the podcast's title"))
    case .person: people.append(try term.filled("a name"))
    case .transcript:
      transcript.append(
        Phrase(try term.filled("words, or a phrase in quotation marks"), isExact: term.isQuoted))
    case .state:
      let names = State.writable.map(\.rawValue).joined(separator: ", ")
      guard let state = State.writable.first(where: { $0.rawValue == value.lowercased() }) else {
        throw Malformed(term: term.text, expected: "one of \(names)")
      }
      if term.isExcluding { excludedStates.insert(state) } else { states.insert(state) }
    case .newer: newer = try term.moment()
    case .older: older = try term.moment()
    case .shorter: shorter = try term.length()
    case .longer: longer = try term.length()
    case .season: season = try term.number(0...Int(Int32.max))
    case .limit: limit = min(try term.number(1...Int.max), Self.largestLimit)
    case .sort:
      guard let order = Order(rawValue: value.lowercased()), order != .queue else {
        throw Malformed(term: term.text, expected: "one of newest, oldest, title, shortest")
      }
      self.order = order
    }
  }
}

extension EpisodeQuery.State {
  package static let writable: [Self] = [.unplayed, .started, .played, .cached, .kept, .followed, .queued]
}

/// A term of a query, split at its first colon.
struct QueryTerm {
  var text: String
  var isExcluding = false
  var key: String?
  var value: String
  var isQuoted = false

  /// Blanks separate terms, but for those between quotation marks. A mark that nothing closes ends with the text.
  static func all(in text: String) -> [QueryTerm] {
    var terms: [QueryTerm] = []
    var rest = text[...]
    while true {
      rest = rest.drop(while: \.isWhitespace)
      if rest.isEmpty { return terms }
      var end = rest.startIndex
      var isOpen = false
      while end < rest.endIndex, isOpen || !rest[end].isWhitespace {
        if Self.isMark(rest[end]) { isOpen.toggle() }
        end = rest.index(after: end)
      }
      terms.append(QueryTerm(rest[..<end]))
      rest = rest[end...]
    }
  }

  private init(_ word: Substring) {
    var body = word
    if word.count > 1, word.first == "-" {
      isExcluding = true
      body = word.dropFirst()
    }
    if let colon = body.firstIndex(of: ":"), !body[..<colon].contains(where: Self.isMark) {
      key = body[..<colon].lowercased()
      let written = body[body.index(after: colon)...]
      isQuoted = written.first.map(Self.isMark) ?? false
      value = String(written.filter { !Self.isMark($0) })
    } else {
      value = String(body.filter { !Self.isMark($0) })
    }
    text = String(word.filter { !Self.isMark($0) })
  }

  /// Phones and word processors write typographic marks.
  private static func isMark(_ character: Character) -> Bool { "\"“”„".contains(character) }

  func filled(_ expected: String) throws(EpisodeQuery.Malformed) -> String {
    let trimmed = value.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if trimmed.isEmpty { throw EpisodeQuery.Malformed(term: text, expected: expected) }
    return trimmed
  }

  func number(_ range: ClosedRange<Int>) throws(EpisodeQuery.Malformed) -> Int {
    guard let number = value.wholeNumber, range.contains(Int(number)) else {
      throw EpisodeQuery.Malformed(term: text, expected: "a number from \(range.lowerBound)")
    }
    return Int(number)
  }

  func length() throws(EpisodeQuery.Malformed) -> Int {
    guard let seconds = DurationText.seconds(value) else {
      throw EpisodeQuery.Malformed(term: text, expected: "a length like 30m or 1h")
    }
    return seconds
  }

  func moment() throws(EpisodeQuery.Malformed) -> EpisodeQuery.Moment {
    if let seconds = AgeText.seconds(value) { return .ago(seconds) }
    if let day = DateText.day(value) { return .at(day) }
    throw EpisodeQuery.Malformed(term: text, expected: "an age like 7d or a date like 2026-01-31")
  }
}
