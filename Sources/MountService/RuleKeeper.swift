package import Catalog
package import PodcastModel
internal import PosixKit
package import TransferProtocol

/// Downloads the episodes that the rules of subscriptions want, and drops those that have fallen out. It decides after a
/// refresh, a change of a mark or a rule, and at a time that a rule names. It reads the rows of that podcast only.
///
/// Several mounts of a user may do so at the same time: an order that is given twice counts once. All but `kept` belongs to
/// the queue, which runs one block at a time: that makes it Sendable.
package final class RuleKeeper: @unchecked Sendable {
  private let catalog: Catalog
  private let transfers: any TransferService
  private let request: @Sendable (EpisodeEntry) -> TransferRequest
  private let announce: @Sendable (_ podcast: Int64, _ episodes: [Episode]) -> Void
  private let queue = WorkQueue(name: "rules", courtesy: 5)
  /// Podcasts of the episodes that `keep` protected at the last look.
  private let kept = Monitor<[MediaKey: Set<Int64>]>([:])
  private var due: Set<Int64> = []
  /// By podcast: when the next decision is due without any change, in seconds since 1970.
  private var moments: [Int64: Int64] = [:]
  /// The podcasts that had an episode in `Queue/` when the rules were last looked at.
  private var queued: Set<Int64> = []
  /// When the clock is looked at next; nil where nothing waits for it.
  private var alarm: Int64?

  /// Seconds after a failed order.
  private static let patience = 60.0
  /// Seconds that the clock is waited for at most: it may be set, and the machine may sleep.
  private static let longestSleep: Int64 = 3600

  /// - Parameters:
  ///   - request: the facts that the transfers need of an episode.
  ///   - announce: called with new episodes of a podcast whose rules announce them.
  package init(
    _ catalog: Catalog, _ transfers: any TransferService,
    request: @escaping @Sendable (EpisodeEntry) -> TransferRequest,
    announce: @escaping @Sendable (_ podcast: Int64, _ episodes: [Episode]) -> Void
  ) { (self.catalog, self.transfers, self.request, self.announce) = (catalog, transfers, request, announce) }

  package func begin() {
    catalog.observeCommits { [weak self] commit in
      guard let self else { return }
      queue.async { [self] in for change in commit.changes { take(change) } }
    }
    transfers.observe { [weak self] key in self?.downloadChanged(key) }
    queue.async { [self] in lookAtAll() }
  }

  package func stop() { queue.stop() }

  private func take(_ change: CatalogChange) {
    switch change {
    case .everything, .subscriptions: lookAtAll()
    case .newEpisodes(let podcast, let first, let last):
      if (try? catalog.effectiveRules(ofPodcast: podcast))?.notify == true,
        let episodes = try? catalog.episodes(Array(first...last)), !episodes.isEmpty
      {
        announce(podcast, episodes)
      }
      look(at: [podcast])
    case .subscription(_, let podcast), .podcast(let podcast), .refreshed(let podcast, _):
      look(at: [podcast])
    case .episode(let id): look(at: [EpisodeID.podcast(of: id)])
    case .queue: look(at: queued)
    case .searches, .search, .results, .result, .hiddenInSearch, .facts, .sidecar, .texts, .synchronized:
      break
    }
  }

  /// Many changes come while bytes do: only the end of `keep` counts.
  private func downloadChanged(_ key: MediaKey) {
    let isProtected = kept.withLock { $0[key] != nil }
    guard isProtected, transfers.status(of: key)?.isKept != true else { return }
    let podcasts = kept.withLock { $0.removeValue(forKey: key) } ?? []
    queue.async { [self] in look(at: podcasts) }
  }

  private func lookAtAll() {
    look(at: Set(((try? catalog.subscriptions()) ?? []).map(\.podcast.id)))
    keepRestored()
  }

  /// Commits that come together are looked at once.
  private func look(at podcasts: Set<Int64>) {
    let isFirst = due.isEmpty && !podcasts.isEmpty
    due.formUnion(podcasts)
    guard isFirst else { return }
    queue.async(after: 0.05) { [self] in
      let now = due
      due = []
      // While the catalogue cannot be read, the next change is waited for.
      for podcast in now { try? decide(podcast) }
      keepRestored()
      awaitClock()
    }
  }

  private func awaitClock() {
    let now = catalog.now
    guard let next = moments.values.min() else { return }
    let time = now + min(max(next - now, 1), Self.longestSleep)
    if let alarm, alarm <= time { return }
    alarm = time
    queue.async(after: Double(time - now)) { [self] in
      alarm = nil
      let now = catalog.now
      look(at: Set(moments.filter { $0.value <= now }.keys))
      if due.isEmpty { awaitClock() }
    }
  }

  private func decide(_ id: Int64) throws {
    moments[id] = nil
    guard var podcast = try catalog.ruledPodcast(id) else { return }
    for place in podcast.episodes.indices {
      let key = podcast.episodes[place].key
      if transfers.status(of: key)?.isKept ?? false { _ = kept.withLock { $0[key, default: []].insert(id) } }
      // Read after that: a change from now on finds the podcast noted.
      podcast.episodes[place].facts.take(transfers.status(of: key))
    }
    queued.remove(id)
    if podcast.episodes.contains(where: { $0.facts.queuePlace != nil }) { queued.insert(id) }
    let now = catalog.now
    let decisions = podcast.rules.decide(podcast.episodes, isSerial: podcast.isSerial, now: now)
    var wanted: [RuledEpisode] = []
    for (episode, decision) in zip(podcast.episodes, decisions) {
      let isAbsent = episode.facts.download == .absent
      switch decision {
      case .download where isAbsent && [.none, .wanted].contains(episode.mark): wanted.append(episode)
      // The user downloaded it before the rules wanted it.
      case .download where !isAbsent && episode.mark == .none:
        try catalog.setRuleMark(.byHand, episode: episode.facts.id)
      case .drop:
        transfers.order(.dropAtClose(episode.key)) { [self] failure in
          if failure == nil { mark(episode, .none) }
        }
      // Another program dropped it. If the rules want it again, it is downloaded again.
      case .leave(let reason) where reason != .isPlayed && episode.cameByRule && isAbsent:
        try catalog.setRuleMark(.none, episode: episode.facts.id)
      case .download, .leave: break
      }
    }
    try order(wanted, isOldestFirst: podcast.rules.order(isSerial: podcast.isSerial) == .next)
    moments[id] = podcast.rules.nextChange(of: podcast.episodes, after: now)
  }

  private func mark(_ episode: RuledEpisode, _ mark: RuleMark) {
    queue.async { [self] in try? catalog.setRuleMark(mark, episode: episode.facts.id) }
  }

  private func order(_ episodes: [RuledEpisode], isOldestFirst: Bool) throws {
    let sorted = episodes.sorted { ($0.facts.published, $0.facts.id) < ($1.facts.published, $1.facts.id) }
    let entries = try catalog.entries(forKeys: sorted.map(\.key))
    for episode in isOldestFirst ? sorted : sorted.reversed() {
      guard let entry = entries[episode.key] else { continue }
      // First, so that another mount does not take the download for an order of the user.
      try catalog.setRuleMark(.wanted, episode: episode.facts.id)
      transfers.order(.start(request(entry))) { [self] failure in
        if failure == nil { return mark(episode, .ordered) }
        queue.async(after: Self.patience) { [self] in look(at: [EpisodeID.podcast(of: episode.facts.id)]) }
      }
    }
  }

  /// Keeps the episodes that a backup kept: when they have come with their feed, or were imported.
  private func keepRestored() {
    for entry in (try? catalog.keepOrders()) ?? [] {
      let key = entry.episode.mediaKey
      transfers.order(.setKept(request(entry), true)) { [self] failure in
        if failure == nil { queue.async { [self] in try? catalog.removeKeepOrder(key) } }
      }
    }
  }
}

extension EpisodeFacts {
  package mutating func take(_ status: TransferStatus?) {
    download = status?.stage ?? .absent
    if status?.isKept ?? false { marks.insert(.kept) }
  }
}
