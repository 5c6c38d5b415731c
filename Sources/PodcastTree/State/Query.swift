internal import PodcastModel
internal import TransferProtocol

/// A directory of episodes by what it shows: a predicate over rows, and how many of the newest that it selects.
struct Query: Sendable {
  /// What is known of an episode.
  struct Row: Sendable {
    let episode: ListedEpisode
    let podcastName: String
    let isFollowed: Bool
    let stage: TransferState.Stage
  }

  /// Whether it selects from several podcasts: names hold the podcast's name then.
  var isMixed = true
  /// The most episodes that it shows.
  var limit = Int.max
  let selects: @Sendable (Row) -> Bool

  static let downloading = Query { $0.stage == .underWay }
  /// Of one podcast.
  static let downloaded = Query(isMixed: false) { $0.stage == .cached }
  /// - Parameter since: seconds since 1970.
  static func latest(_ limit: Int, since: Int64 = .min) -> Query {
    Query(limit: limit) { row in
      row.isFollowed && !row.episode.isHidden && !row.episode.isPlayed && row.episode.modified >= since
    }
  }

  /// The most rows that its result holds: when one of those shown goes, the next takes its place.
  var capacity: Int { limit > .max / 2 ? .max : limit * 2 }
}

/// The rows that a query selects, and their names. A change of an episode costs one `update`, however many there are.
struct QueryResult: Sendable {
  let query: Query
  /// The directory's name.
  let name: String
  /// Of a limited query: the newest first.
  private var rows: [Query.Row] = []
  private var rowByID: [Int64: Query.Row] = [:]
  /// Whether `rows` are all that the query selects.
  private var isWhole = true
  /// Of the episodes that are shown.
  private var names: [Int64: (stem: String, name: String)] = [:]
  private var taken = UniqueNames()

  init(_ query: Query, name: String) {
    self.query = query
    self.name = name
  }

  /// - Parameter rows: as many as `capacity` says, or all that it selects.
  init(_ query: Query, name: String, _ rows: [Query.Row]) {
    self.init(query, name: name)
    self.rows = rows.filter(query.selects).sorted { Self.isBefore($0.episode, $1.episode) }
    rowByID = Dictionary(self.rows.map { ($0.episode.id, $0) }, uniquingKeysWith: { first, _ in first })
    isWhole = rows.count < query.capacity
    // In the order of their numbers, so that a remount gives the same names.
    for row in shown.sorted(by: { $0.episode.id < $1.episode.id }) { show(row) }
  }

  /// The newest first.
  private static func isBefore(_ a: ListedEpisode, _ b: ListedEpisode) -> Bool {
    (a.modified, a.id) > (b.modified, b.id)
  }

  var shown: [Query.Row] {
    query.limit == .max ? Array(rowByID.values) : Array(rows.prefix(query.limit))
  }
  var count: Int { names.count }
  /// Whether rows have to be read: it would show more of them than it has.
  var isShort: Bool { !isWhole && rows.count < query.limit }
  func name(of id: Int64) -> String? { names[id]?.name }
  func episode(_ id: Int64) -> ListedEpisode? { rowByID[id]?.episode }
  var podcasts: Set<Int64> { Set(rowByID.values.map(\.episode.podcast)) }
  /// The episodes of one podcast, by number.
  func episodes(ofPodcast podcast: Int64) -> [Int64] {
    rowByID.values.lazy.map(\.episode).filter { $0.podcast == podcast }.map(\.id).sorted()
  }

  /// Takes in an episode's row as it is now; nil where the episode is gone.
  /// - Returns: another episode that has come into what is shown, or left it, with the name that it had.
  mutating func update(_ id: Int64, to row: Query.Row?) -> (episode: ListedEpisode, oldName: String?)? {
    if query.limit == .max {
      if let old = rowByID.removeValue(forKey: id) { hide(old) }
      if let row, query.selects(row) {
        rowByID[id] = row
        show(row)
      }
      return nil
    }
    let near = rows.dropFirst(max(0, query.limit - 1)).prefix(2).map { ($0.episode, name(of: $0.episode.id)) }
    if let old = rowByID.removeValue(forKey: id) {
      let place = place(of: old.episode)
      rows.remove(at: place)
      if place < query.limit {
        hide(old)
        if rows.count >= query.limit { show(rows[query.limit - 1]) }
      }
    }
    if let row, query.selects(row) { insert(row) }
    return near.first { $0.0.id != id && name(of: $0.0.id) != $0.1 }.map { ($0.0, $0.1) }
  }

  private mutating func insert(_ row: Query.Row) {
    let place = place(of: row.episode)
    // Behind the last one there may be others that were not read.
    if place == rows.count && !isWhole { return }
    rows.insert(row, at: place)
    rowByID[row.episode.id] = row
    if place < query.limit {
      if rows.count > query.limit { hide(rows[query.limit]) }
      show(row)
    }
    if rows.count > query.capacity {
      rowByID[rows.removeLast().episode.id] = nil
      isWhole = false
    }
  }

  private func place(of episode: ListedEpisode) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if Self.isBefore(rows[middle].episode, episode) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Two podcasts whose names are the same where they are cut may have an episode of the same name: the later one is
  /// numbered.
  private mutating func show(_ row: Query.Row) {
    let episode = row.episode
    if !query.isMixed { return names[episode.id] = (episode.stem, episode.name) }
    let stem = taken.claim(EpisodeName.viewStem(podcast: row.podcastName, stem: episode.stem))
    let ending = String(decoding: episode.name.utf8.dropFirst(episode.stem.utf8.count), as: UTF8.self)
    names[episode.id] = (stem, stem + ending)
  }

  private mutating func hide(_ row: Query.Row) {
    if let old = names.removeValue(forKey: row.episode.id), query.isMixed { taken.remove(old.stem) }
  }
}
