package import PodcastModel

/// What `transcript:` asks for: words and phrases that are said within the same half minute.
package struct TranscriptQuery: Hashable, Sendable {
  /// Each a word, or the words of a phrase in their order.
  let terms: [[String]]

  /// - Parameter texts: of several words: a phrase.
  /// - Returns: nil where there is no word.
  package init?(_ texts: [String]) {
    terms = texts.map { SpokenWords.list($0) }.filter { !$0.isEmpty }
    if terms.isEmpty { return nil }
  }

  /// Of a query for episodes.
  package init?(_ phrases: [EpisodeQuery.Phrase]) {
    self.init(
      phrases.flatMap { phrase in
        phrase.isExact ? [phrase.text] : phrase.text.split(whereSeparator: \.isWhitespace).map(String.init)
      })
  }

  /// Whether the index alone tells what matches: it does not know in which order words come.
  var needsText: Bool { terms.contains { $0.count > 1 } }

  /// What the index has of the next segment with each segment: its first word, which begins with this character there. No
  /// word of a text has it.
  static let mark = "\u{E000}"
  /// Words of a phrase by which the index selects.
  private static let most = 6

  /// For FTS5's MATCH: the segments in which a match may begin.
  var expression: String {
    terms.map { Self.expression(of: Array($0.prefix(Self.most))) }.joined(separator: " AND ")
  }

  /// All words are in the segment, or the first ones are, and the next one is the first of the segment behind it.
  private static func expression(of words: [String]) -> String {
    func all(_ count: Int) -> String { words.prefix(count).map { "\"\($0)\"" }.joined(separator: " AND ") }
    if words.count == 1 { return all(1) }
    let reaching = (1..<words.count).map { "(\(all($0)) AND \"\(mark)\(words[$0])\")" }
    return "((\(all(words.count))) OR \(reaching.joined(separator: " OR ")))"
  }

  /// Whether a segment has all terms.
  /// - Parameters:
  ///   - cues: the segment's, and those that follow, into which a phrase may reach.
  ///   - count: of the segment's.
  func matches(_ cues: ArraySlice<Cue>, count: Int) -> Bool {
    let words = CueWords(cues)
    return terms.allSatisfy { !words.places(of: $0, before: words.start(ofCue: count), first: true).isEmpty }
  }

  /// Where terms begin in a segment that has all of them; empty where it lacks one. See `matches`.
  func hits(in cues: ArraySlice<Cue>, count: Int) -> [TranscriptHit] {
    let words = CueWords(cues)
    var found: Set<Int> = []
    for term in terms {
      let places = words.places(of: term, before: words.start(ofCue: count))
      if places.isEmpty { return [] }
      found.formUnion(places)
    }
    var hits: [TranscriptHit] = []
    var last = -1
    for place in found.sorted() {
      let index = words.cue(of: place)
      let cue = cues[cues.startIndex + index]
      let isLong = cue.end - cue.start > TranscriptHit.span
      if index == last && !isLong { continue }
      last = index
      let length = words.start(ofCue: index + 1) - words.start(ofCue: index)
      let share = isLong ? Double(place - words.start(ofCue: index)) / Double(max(length, 1)) : 0
      hits.append(
        TranscriptHit(
          at: cue.start + Int(share * Double(cue.end - cue.start)),
          in: cues[(cues.startIndex + index)...], from: share))
    }
    return hits
  }
}

/// The words of some cues, as numbers.
private struct CueWords {
  private var numbers: [UInt64] = []
  /// The place of each cue's first word.
  private var starts: [Int] = []

  init(_ cues: ArraySlice<Cue>) {
    numbers.reserveCapacity(cues.count * 12)
    for cue in cues {
      starts.append(numbers.count)
      SpokenWords.forEach(in: cue.text) { numbers.append(SpokenWords.number($0)) }
    }
  }

  func start(ofCue index: Int) -> Int { index < starts.count ? starts[index] : numbers.count }

  /// The last cue that begins at a word or before it.
  func cue(of place: Int) -> Int {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] > place { high = middle } else { low = middle + 1 }
    }
    return low - 1
  }

  /// - Parameter first: whether one is enough.
  func places(of words: [String], before end: Int, first: Bool = false) -> [Int] {
    let wanted = words.map { SpokenWords.number($0.utf8) }
    var places: [Int] = []
    for place in 0..<end where numbers[place] == wanted[0] && place + wanted.count <= numbers.count {
      if numbers[place..<(place + wanted.count)].elementsEqual(wanted) {
        places.append(place)
        if first { break }
      }
    }
    return places
  }
}

/// A place in an episode where something is said.
package struct TranscriptHit: Hashable, Sendable {
  /// In milliseconds from the episode's start.
  package let start: Int
  /// Who speaks, where the transcript says so.
  package let speaker: String?
  /// What is said from there on, on one line: about 160 characters.
  package let text: String

  /// Milliseconds from which on a cue is long: a hit in it has a time of its own then.
  static let span = 20_000
  private static let characters = 160
  /// Milliseconds: what is said later is not shown.
  private static let reach = 30_000

  /// - Parameter share: of the first cue's words, those before the hit.
  fileprivate init(at start: Int, in cues: ArraySlice<Cue>, from share: Double) {
    self.start = start
    speaker = cues.first?.speaker
    var words: [Substring] = []
    var length = 0
    for (place, cue) in cues.enumerated() {
      if place > 0, cue.start - start >= Self.reach { break }
      let said = cue.text.split(whereSeparator: \.isWhitespace)
      let skipped = place == 0 ? max(Int(Double(said.count) * share) - 2, 0) : 0
      for word in said.dropFirst(skipped) {
        length += word.count + 1
        if length > Self.characters, !words.isEmpty { break }
        words.append(word)
      }
      if length > Self.characters { break }
    }
    text = PrintableText.line(words.joined(separator: " "))
  }
}
