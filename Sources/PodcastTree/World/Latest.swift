internal import PodcastModel

/// The newest episodes of all subscriptions, and some more behind them: when one of them goes, the next is known.
struct Latest: Sendable {
  /// The newest first.
  private var candidates: [KnownEpisode]
  /// Whether there are no others.
  private let isWhole: Bool
  private let limit: Int
  private(set) var view = CrossView()
  /// Something may belong here that is not known yet.
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

  /// What it shows and `other` does not, or the other way round.
  func difference(to other: Latest) -> [ListedEpisode] {
    view.ids.symmetricDifference(other.view.ids).compactMap { view.episode($0) ?? other.view.episode($0) }
  }

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
    for known in candidates.prefix(limit) { view.insert(known) }
    self.view = view
  }
}
