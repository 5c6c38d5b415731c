internal import PodcastModel

/// The newest episodes of all subscriptions, and some more: when one is removed, the next takes its place.
struct Latest: Sendable {
  /// The newest first.
  private var candidates: [KnownEpisode]
  /// Whether there are no others.
  private let isWhole: Bool
  private let limit: Int
  private(set) var view = CrossView()
  /// There may be newer ones: the rows are to be read again.
  var isStale = false

  /// How many are to be asked for, to show `limit`.
  static func wanted(_ limit: Int) -> Int { limit * 2 }

  /// - Parameter candidates: the newest, as many as `wanted` says or there are.
  init(_ candidates: [KnownEpisode], limit: Int) {
    self.candidates = candidates
    self.limit = limit
    isWhole = candidates.count < Self.wanted(limit)
    show()
  }

  func episode(_ id: Int64) -> ListedEpisode? { view.episode(id) }

  var podcasts: Set<Int64> { Set(candidates.map(\.episode.podcast)) }

  /// What is gone: unsubscribed, or hidden.
  mutating func remove(where isGone: (ListedEpisode) -> Bool) {
    let before = candidates.count
    candidates.removeAll { isGone($0.episode) }
    if candidates.count == before { return }
    if candidates.count < limit && !isWhole { isStale = true }
    show()
  }

  private mutating func show() {
    var view = CrossView()
    // Episodes are named in the order of their numbers, so that a remount gives the same names.
    for known in candidates.prefix(limit).sorted(by: { $0.episode.id < $1.episode.id }) { view.insert(known) }
    self.view = view
  }
}
