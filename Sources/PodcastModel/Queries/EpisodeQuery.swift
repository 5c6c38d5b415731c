/// A folder of episodes: a condition, an order and a limit over everything known.
///
/// `Latest/`, `Queue/`, `Downloading/` and `Downloaded/` are built-in queries. The user writes others as names of
/// directories in `Search/` (`init(parsing:now:)` has the grammar).
package struct EpisodeQuery: Hashable, Sendable {
  /// Words in the title or the notes, beginnings of words included; empty for any.
  package var words = ""
  /// Words in the title of the podcast, or in the name of its subscription; each entry must be there.
  package var shows: [String] = []
  package var people: [String] = []
  /// What was said; each entry must be in the transcript.
  package var transcript: [Phrase] = []
  package var states: Set<State> = []
  package var excludedStates: Set<State> = []
  package var newer: Moment?
  package var older: Moment?
  /// At most so many seconds long. An episode of unknown length does not match.
  package var shorter: Int?
  /// At least so many seconds long. An episode of unknown length does not match.
  package var longer: Int?
  package var season: Int?
  package var order = Order.newest
  package var limit = Self.largestLimit
  package static let largestLimit = 1000

  package init() {}

  package enum State: String, CaseIterable, Hashable, Sendable {
    case unplayed, started, played, cached, kept, followed, queued
    /// Users do not write these.
    case downloading, paused, failed, hidden

    /// Whether the state of its download decides, not the catalogue.
    package var isOfDownload: Bool { [.cached, .kept, .downloading, .paused, .failed].contains(self) }
  }

  package enum Order: String, Hashable, Sendable {
    case newest, oldest, title, shortest
    /// By place in the queue; users do not write it.
    case queue
  }

  package enum Moment: Hashable, Sendable {
    /// So many seconds before now: the bound moves on with the clock.
    case ago(Int64)
    case at(Int64)

    package func seconds(now: Int64) -> Int64 {
      switch self {
      case .ago(let seconds): now - seconds
      case .at(let seconds): seconds
      }
    }
  }

  /// Words of a transcript: in any order, or one after the other.
  package struct Phrase: Hashable, Sendable {
    package var text: String
    package var isExact: Bool
    package init(_ text: String, isExact: Bool) {
      (self.text, self.isExact) = (text, isExact)
    }
  }

  package func concerns(_ state: State) -> Bool { states.contains(state) || excludedStates.contains(state) }

  /// By what titles are ordered: the title in an episode's name, without regard to the case of ASCII letters.
  /// - Parameter stem: the episode's name in its podcast's folder.
  package static func titleKey(ofStem stem: String) -> String {
    let title = stem.firstRange(of: " - ").map { stem[$0.upperBound...] } ?? stem[...]
    return String(decoding: title.utf8.map { (65...90).contains($0) ? $0 | 32 : $0 }, as: UTF8.self)
  }

  /// Whether an index of texts must select the candidates; the rows alone do not tell who matches.
  package var needsIndex: Bool { !words.isEmpty || !people.isEmpty || !transcript.isEmpty }
}

extension EpisodeQuery {
  /// Whether a row matches, but for `words`, `people` and `transcript`, which an index answers.
  /// - Parameter now: seconds since 1970.
  package func matches(_ facts: EpisodeFacts, now: Int64) -> Bool {
    if let newer, facts.published < newer.seconds(now: now) { return false }
    if let older, facts.published >= older.seconds(now: now) { return false }
    if let shorter { guard let duration = facts.duration, duration <= shorter else { return false } }
    if let longer { guard let duration = facts.duration, duration >= longer else { return false } }
    if let season, facts.season != season { return false }
    return states.allSatisfy(facts.has) && !excludedStates.contains(where: facts.has)
      && shows.allSatisfy { show in
        WordMatch.contains(show, in: facts.show)
          || facts.folder.map { WordMatch.contains(show, in: $0) } ?? false
      }
  }

  /// Whether the clock alone lets further rows match.
  package var isFedByClock: Bool {
    if case .ago = older { return true }
    return false
  }

  /// When the clock alone will change whether the row matches: the next such moment after `now`, in seconds since 1970.
  package func nextChange(of facts: EpisodeFacts, after now: Int64) -> Int64? {
    let moments: [Int64] = [newer, older].compactMap { bound in
      guard case .ago(let seconds) = bound else { return nil }
      return facts.published + seconds + 1
    }
    return moments.filter { $0 > now }.min()
  }

  /// Whether `a` is listed before `b`. Equal keys are ordered by number, so that the order is the same in each process.
  package func isOrdered(_ a: EpisodeFacts, before b: EpisodeFacts) -> Bool {
    switch order {
    case .newest: (b.published, b.id) < (a.published, a.id)
    case .oldest: (a.published, a.id) < (b.published, b.id)
    case .title: (a.title, a.id) < (b.title, b.id)
    case .shortest: (a.duration ?? .max, a.id) < (b.duration ?? .max, b.id)
    case .queue: (a.queuePlace ?? .max, a.id) < (b.queuePlace ?? .max, b.id)
    }
  }
}

// The folders that are always there.
extension EpisodeQuery {
  package static let downloading = EpisodeQuery([.downloading])
  package static let paused = EpisodeQuery([.paused])
  package static let failed = EpisodeQuery([.failed])
  package static let downloaded = EpisodeQuery([.cached])
  package static let queue = EpisodeQuery([.queued], order: .queue)

  /// - Parameters:
  ///   - limit: the most episodes that it shows.
  ///   - days: how old they are at most; 0 for any age.
  package static func latest(_ limit: Int, days: Int) -> EpisodeQuery {
    var query = EpisodeQuery([.unplayed, .followed], limit: limit)
    query.excludedStates = [.hidden]
    query.newer = days == 0 ? nil : .ago(Int64(days) * 86_400)
    return query
  }

  private init(_ states: Set<State>, order: Order = .newest, limit: Int = .max) {
    (self.states, self.order, self.limit) = (states, order, limit)
  }
}
