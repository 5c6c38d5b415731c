internal import Catalog
internal import PodcastModel

/// The episodes that a query selects, and their names. A change of an episode costs one `update`, however many there are.
struct QueryResult: Sendable {
  struct Row: Sendable {
    let episode: ListedEpisode
    let podcastName: String
    let facts: EpisodeFacts
  }

  private enum Naming: Sendable {
    /// As in the folder of the one podcast.
    case own
    /// With the podcast's name.
    case mixed
    /// With the place in the queue.
    case numbered
  }

  let query: EpisodeQuery
  /// The folder's name, where it is that of a podcast.
  let name: String
  private let naming: Naming
  /// Of a limited query: in its order.
  private var rows: [Row] = []
  private var rowByID: [Int64: Row] = [:]
  /// Whether `rows` are all that the query selects.
  private var isWhole = true
  /// When the clock alone may change what it selects, in seconds since 1970.
  private var validUntil = Int64.max
  /// Episodes whose texts match, of those that were looked up in the index.
  private var matches: Set<Int64> = []
  /// Of the episodes that are shown.
  private var names: [Int64: (stem: String, name: String)] = [:]
  private var taken = UniqueNames()

  init(_ query: EpisodeQuery, name: String = "") {
    self.query = query
    self.name = name
    naming = !name.isEmpty ? .own : query.order == .queue ? .numbered : .mixed
  }

  /// - Parameters:
  ///   - rows: as many as `capacity` says, or all that it selects.
  ///   - now: seconds since 1970.
  init(_ query: EpisodeQuery, _ rows: [Row], now: Int64) {
    self.init(query)
    matches = query.needsIndex ? Set(rows.map(\.episode.id)) : []
    self.rows = rows.filter { query.matches($0.facts, now: now) }
      .sorted { query.isOrdered($0.facts, before: $1.facts) }
    rowByID = Dictionary(self.rows.map { ($0.episode.id, $0) }, uniquingKeysWith: { first, _ in first })
    isWhole = rows.count < Self.capacity(of: query)
    if query.isFedByClock { validUntil = now + Self.clockStep }
    for row in self.rows { noteClock(row, now) }
    // In the order of their numbers, so that a remount gives the same names.
    for row in shown.sorted(by: { $0.episode.id < $1.episode.id }) { show(row) }
  }

  /// Seconds after which a query that the clock adds to is run again.
  private static let clockStep: Int64 = 60

  /// The most rows that a result holds: when one of those shown goes, the next takes its place.
  static func capacity(of query: EpisodeQuery) -> Int {
    query.limit == .max ? .max : query.limit + min(query.limit, 100)
  }

  private var isLimited: Bool { query.limit != .max }
  var shown: [Row] { isLimited ? Array(rows.prefix(query.limit)) : Array(rowByID.values) }
  var count: Int { names.count }
  /// Whether rows have to be read: it would show more of them than it has, or the clock has changed what it selects.
  func isStale(now: Int64) -> Bool { !isWhole && rows.count < query.limit || now >= validUntil }
  func name(of id: Int64) -> String? { names[id]?.name }
  func episode(_ id: Int64) -> ListedEpisode? { rowByID[id]?.episode }
  var podcasts: Set<Int64> { Set(rowByID.values.map(\.episode.podcast)) }
  func episodes(ofPodcast podcast: Int64) -> [Int64] {
    rowByID.keys.filter { EpisodeID.podcast(of: $0) == podcast }.sorted()
  }

  /// Whether the texts of some episodes match, before their rows change.
  mutating func note(_ ids: [Int64], matching: Set<Int64>) {
    matches.subtract(ids)
    matches.formUnion(matching)
  }

  /// Takes in an episode's row as it is now; nil where the episode is gone.
  /// - Returns: another episode that has come into what is shown, or left it, with the name that it had.
  mutating func update(_ id: Int64, to row: Row?, now: Int64) -> (episode: ListedEpisode, oldName: String?)? {
    let selected = row.flatMap { selects($0, now) ? $0 : nil }
    if selected == nil { matches.remove(id) }
    if !isLimited {
      if let old = rowByID.removeValue(forKey: id) { hide(old) }
      rowByID[id] = selected
      if let selected { show(selected) }
      return nil
    }
    let near = rows.dropFirst(max(0, query.limit - 1)).prefix(2).map { ($0.episode, name(of: $0.episode.id)) }
    if let old = rowByID.removeValue(forKey: id) {
      let place = place(of: old)
      rows.remove(at: place)
      if place < query.limit {
        hide(old)
        if rows.count >= query.limit { show(rows[query.limit - 1]) }
      }
    }
    if let selected { insert(selected, now) }
    return near.first { $0.0.id != id && name(of: $0.0.id) != $0.1 }.map { ($0.0, $0.1) }
  }

  private func selects(_ row: Row, _ now: Int64) -> Bool {
    query.matches(row.facts, now: now) && (!query.needsIndex || matches.contains(row.episode.id))
  }

  private mutating func noteClock(_ row: Row, _ now: Int64) {
    if let change = query.nextChange(of: row.facts, after: now) { validUntil = min(validUntil, change) }
  }

  private mutating func insert(_ row: Row, _ now: Int64) {
    let place = place(of: row)
    // Rows that were not read may follow the last one.
    if place == rows.count && !isWhole { return }
    rows.insert(row, at: place)
    rowByID[row.episode.id] = row
    noteClock(row, now)
    if place < query.limit {
      if rows.count > query.limit { hide(rows[query.limit]) }
      show(row)
    }
    if rows.count > Self.capacity(of: query) {
      rowByID[rows.removeLast().episode.id] = nil
      isWhole = false
    }
  }

  private func place(of row: Row) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if query.isOrdered(rows[middle].facts, before: row.facts) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Shortened names of two podcasts may be equal, and so may their episodes' names: the later name gets a number.
  private mutating func show(_ row: Row) {
    let episode = row.episode
    let stem =
      switch naming {
      case .own: episode.stem
      case .mixed: taken.claim(EpisodeName.viewStem(podcast: row.podcastName, stem: episode.stem))
      case .numbered:
        EpisodeName.queueStem(place: row.facts.queuePlace ?? 0, podcast: row.podcastName, stem: episode.stem)
      }
    let ending = String(decoding: episode.name.utf8.dropFirst(episode.stem.utf8.count), as: UTF8.self)
    names[episode.id] = (stem, stem + ending)
  }

  private mutating func hide(_ row: Row) {
    if let old = names.removeValue(forKey: row.episode.id), naming == .mixed { taken.remove(old.stem) }
  }
}
