import Catalog
import Configuration
import PodcastModel
import PodcastTree
import PosixKit
import Sync

/// A catalogue in memory: the test says what searches find and what feeds hold.
final class FakeCatalog: CatalogService {
  struct State {
    var nextID: Int64 = 1
    var searches: [Search] = []
    var results: [Int64: [ListedPodcast]] = [:]
    var subscriptions: [ListedPodcast] = []
    var podcasts: [Int64: Podcast] = [:]
    var episodes: [Int64: [Episode]] = [:]
    var folderTimes = FolderTimes()
    var hiddenInSearch: [Int64: Set<Int64>] = [:]
    var queue: [Int64] = []
    var observer: Callback<Void>?
    var commits: [CatalogCommit] = []
    /// What the directory service knows: podcasts by number, which every search finds.
    var directory: [Int64] = []
    var searchFailure: CatalogError?
    /// What a feed holds that was not fetched yet.
    var feeds: [Int64: [Episode]] = [:]
    var refreshFailure: CatalogError?
    var refreshes: [(podcast: Int64, cause: RefreshCause)] = []
    var keepsWaiting = false
    /// Podcasts whose refresh takes until it is let go on, and what then ends it.
    var slow: Set<Int64> = []
    var held: [@Sendable () -> Void] = []
    var rules = SubscriptionRules()
    /// What somebody opened, marked or ordered.
    var byHand: Set<Int64> = []
    var importProblems: [String] = []
  }
  let state = Monitor(State())
  /// How many rows were read, and how often episodes were selected.
  let rowsRead = Monitor(0)
  let selections = Monitor(0)

  final class Task: Cancellable {
    let onCancel: Monitor<Callback<Void>?>
    init(_ onCancel: (@Sendable () -> Void)? = nil) { self.onCancel = Monitor(onCancel.map { Callback($0) }) }
    func cancel() {
      onCancel.withLock { action in
        defer { action = nil }
        return action
      }?()
    }
  }

  var hasDirectory: Bool { false }
  func makeCategories() {}
  func makeLanguage(_ language: String, ofCategory id: Int64) -> Bool { false }
  func fillCategory(_ id: Int64) -> Bool { false }
  func isChartDue(_ id: Int64) -> Bool { false }
  func readChart(
    _ id: Int64, completion: @escaping @Sendable (Result<Void, CatalogError>) -> Void
  ) -> any Cancellable {
    completion(.success(()))
    return Task()
  }
  func searches() -> [Search] { state.withLock { $0.searches } }
  func results(ofSearch id: Int64) -> [ListedPodcast] {
    state.withLock { state in (state.results[id] ?? []).map { current($0, state) } }
  }
  func subscriptions() -> [ListedPodcast] {
    rowsRead.withLock { $0 += 1 }
    return state.withLock { state in state.subscriptions.map { current($0, state) } }
  }
  private func current(_ entry: ListedPodcast, _ state: State) -> ListedPodcast {
    var entry = entry
    entry.podcast = state.podcasts[entry.podcast.id] ?? entry.podcast
    entry.newest =
      state.episodes[entry.podcast.id]?.filter { !$0.hidden }.map(\.published).max() ?? 0
    entry.hiddenCount = state.episodes[entry.podcast.id]?.count(where: \.hidden) ?? 0
    return entry
  }
  func noteSidecar(_ node: Int64) { announce(.sidecar(node)) }
  func syncStatus(_ settings: SyncSettings?) throws -> SyncStatus? { nil }
  func podcast(_ id: Int64) -> Podcast? { state.withLock { $0.podcasts[id] } }
  func listedEpisodes<Made: Sendable>(ofPodcast id: Int64, as make: (Episode) -> Made) -> [Made] {
    let episodes = state.withLock { $0.episodes[id] ?? [] }
    rowsRead.withLock { $0 += episodes.count }
    return episodes.map { make($0) }
  }
  func episode(_ id: Int64) -> Episode? {
    rowsRead.withLock { $0 += 1 }
    return state.withLock { state in state.episodes[id >> 20]?.first { $0.id == id } }
  }
  func episodes(from id: Int64, count: Int) -> [Episode] {
    rowsRead.withLock { $0 += 1 }
    return state.withLock { state in
      Array((state.episodes[id >> 20] ?? []).filter { $0.id >= id }.sorted { $0.id < $1.id }.prefix(count))
    }
  }
  func podcasts(_ ids: [Int64]) -> [Podcast] { ids.compactMap { podcast($0) } }
  func results(showing podcasts: [Int64]) -> [Int64: [Int64: Set<Int64>]] {
    state.withLock { state in
      var found: [Int64: [Int64: Set<Int64>]] = [:]
      for result in state.results.values.flatMap({ $0 }) where podcasts.contains(result.podcast.id) {
        found[result.podcast.id, default: [:]][result.id] = state.hiddenInSearch[result.id] ?? []
      }
      return found
    }
  }
  func entries(forKeys keys: [MediaKey]) -> [MediaKey: EpisodeEntry] {
    state.withLock { state in
      var entries: [MediaKey: EpisodeEntry] = [:]
      for episode in state.episodes.values.flatMap({ $0 }) where keys.contains(episode.mediaKey) {
        guard let podcast = state.podcasts[episode.podcastID] else { continue }
        entries[episode.mediaKey] = EpisodeEntry(episode: episode, podcast: podcast)
      }
      return entries
    }
  }
  func episodes(
    selectedBy query: EpisodeQuery, downloads: [EpisodeQuery.State: Set<Int64>], limit: Int
  ) -> [Episode] {
    selections.withLock { $0 += 1 }
    let texts = matching(query, among: state.withLock { $0.episodes.values.flatMap { $0 }.map(\.id) })
    return state.withLock { state in
      let followed = Set(state.subscriptions.map(\.podcast.id))
      let rows = state.episodes.values.flatMap { $0 }.filter { texts.contains($0.id) }.map { episode in
        var facts = EpisodeFacts(
          id: episode.id, title: EpisodeQuery.titleKey(ofStem: episode.stem),
          show: state.podcasts[episode.podcastID]?.title ?? "", published: episode.published)
        facts.duration = episode.duration
        facts.season = episode.season
        facts.queuePlace = state.queue.firstIndex(of: episode.id).map { $0 + 1 }
        if episode.played { facts.marks.insert(.played) }
        if episode.hidden { facts.marks.insert(.hidden) }
        if episode.listening.position > 0 { facts.marks.insert(.begun) }
        if followed.contains(episode.podcastID) { facts.marks.insert(.followed) }
        if downloads[.kept]?.contains(episode.id) ?? false { facts.marks.insert(.kept) }
        if downloads[.cached]?.contains(episode.id) ?? false { facts.download = .complete }
        return (facts, episode)
      }
      let selected = rows.filter { query.matches($0.0, now: wallClockSeconds()) }
        .sorted { query.isOrdered($0.0, before: $1.0) }
      return Array(selected.prefix(limit).map(\.1))
    }
  }
  func matching(_ query: EpisodeQuery, among ids: [Int64]) -> Set<Int64> {
    Set(
      episodes(ids).filter { episode in
        query.words.split(separator: " ").allSatisfy { episode.title.contains($0) }
      }.map(\.id))
  }
  func queueEntries() -> [QueueEntry] {
    state.withLock { $0.queue.enumerated().map { QueueEntry(episode: $1, place: $0 + 1) } }
  }
  func appendToQueue(_ ids: [Int64]) {
    state.withLock { state in state.queue += ids.filter { !state.queue.contains($0) } }
    announce(.queue)
  }
  func moveInQueue(_ id: Int64, to place: Int) {
    state.withLock { state in
      state.queue.removeAll { $0 == id }
      state.queue.insert(id, at: min(max(place - 1, 0), state.queue.count))
    }
    announce(.queue)
  }
  func removeFromQueue(_ ids: [Int64]) {
    state.withLock { $0.queue.removeAll { ids.contains($0) } }
    announce(.queue)
  }

  func search(
    _ name: String, replacing old: Int64?,
    completion: @escaping @Sendable (Result<Search, CatalogError>) -> Void
  ) -> any Cancellable {
    if state.withLock({ $0.keepsWaiting }) {
      return Task { completion(.failure(CatalogError(.ECANCELED, "cancelled"))) }
    }
    let result = state.withLock { state -> Result<Search, CatalogError> in
      if let failure = state.searchFailure { return .failure(failure) }
      let id = old ?? state.nextID
      state.nextID += 1
      state.searches.removeAll { $0.id == old }
      let search = Search(
        id: id, name: name, resultCount: state.directory.count, source: "fake", searched: 1_700_000_000)
      state.searches.append(search)
      state.results[id] = state.directory.map { podcast in
        defer { state.nextID += 1 }
        let record = state.podcasts[podcast] ?? Podcast(id: podcast, feedURL: "", title: "?", name: "?")
        return ListedPodcast(id: state.nextID, name: record.title, podcast: record)
      }
      return .success(search)
    }
    if case .success(let search) = result { announce(.search(search.id), .results(search: search.id)) }
    completion(result)
    return Task()
  }

  func refresh(
    podcast id: Int64, cause: RefreshCause,
    completion: @escaping @Sendable (Result<RefreshOutcome, CatalogError>) -> Void
  ) -> any Cancellable {
    if state.withLock({ $0.keepsWaiting }) {
      return Task { completion(.failure(CatalogError(.ECANCELED, "cancelled"))) }
    }
    let isHeld = state.withLock { state in
      guard state.slow.remove(id) != nil else { return false }
      state.refreshes.append((id, cause))
      state.held.append { [self] in
        let count = self.state.withLock { $0.refreshes.count }
        _ = refresh(podcast: id, cause: cause, completion: completion)
        self.state.withLock { _ = $0.refreshes.remove(at: count) }
      }
      return true
    }
    if isHeld { return Task() }
    let result = state.withLock { state -> Result<RefreshOutcome, CatalogError> in
      state.refreshes.append((id, cause))
      if let failure = state.refreshFailure { return .failure(failure) }
      state.podcasts[id]?.lastRefresh = 1_700_000_000
      state.podcasts[id]?.nextRefresh = .max
      state.episodes[id] = state.feeds[id] ?? []
      state.podcasts[id]?.episodeCount = state.episodes[id]?.count ?? 0
      return .success(.unchanged)
    }
    if case .success = result { announce(.podcast(id), .refreshed(podcast: id, newEpisodes: 0)) }
    completion(result)
    return Task()
  }

  func forgetSearch(_ id: Int64) {
    state.withLock { state in
      state.searches.removeAll { $0.id == id }
      state.results[id] = nil
    }
    announce(.search(id))
  }
  func hideResult(_ id: Int64) {
    let search = state.withLock { state in
      let search = state.results.first { $0.value.contains { $0.id == id } }?.key
      for search in state.results.keys { state.results[search]?.removeAll { $0.id == id } }
      return search ?? 0
    }
    announce(.result(id, search: search))
  }
  func hideInSearch(result: Int64, episode: Int64) {
    state.withLock { _ = $0.hiddenInSearch[result, default: []].insert(episode) }
    announce(.hiddenInSearch(result: result, episode: episode))
  }
  func subscribe(result id: Int64, name: String?) throws -> ListedPodcast {
    let search = state.withLock { $0.results.first { $0.value.contains { $0.id == id } }?.key } ?? 0
    let entry = try state.withLock { state in
      guard let found = state.results.values.lazy.flatMap({ $0 }).first(where: { $0.id == id }) else {
        throw CatalogError(.ENOENT, "no such result")
      }
      let entry = ListedPodcast(id: state.nextID, name: name ?? found.name, podcast: found.podcast)
      state.nextID += 1
      state.subscriptions.append(entry)
      for search in state.results.keys { state.results[search]?.removeAll { $0.id == id } }
      return entry
    }
    announce(.subscription(entry.id, podcast: entry.podcast.id), .result(id, search: search))
    return entry
  }
  func subscribe(
    address: String, name: String?, isTyped: Bool,
    completion: @escaping @Sendable (Result<ListedPodcast, CatalogError>) -> Void
  ) -> any Cancellable {
    guard address == "link", let podcast = podcast(7) else {
      completion(.failure(CatalogError(.EPROTO, "is a web page, not a feed")))
      return Task()
    }
    if let known = subscriptions().first(where: { $0.podcast.id == 7 }) {
      completion(.failure(.alreadyFollowed(known.name)))
      return Task()
    }
    let entry = state.withLock { state in
      let entry = ListedPodcast(id: state.nextID, name: podcast.name, podcast: podcast)
      state.nextID += 1
      state.subscriptions.append(entry)
      return entry
    }
    announce(.subscription(entry.id, podcast: 7))
    completion(.success(entry))
    return Task()
  }
  func unsubscribe(_ id: Int64) {
    let podcast = subscription(id)?.podcast.id ?? 0
    state.withLock { $0.subscriptions.removeAll { $0.id == id } }
    announce(.subscription(id, podcast: podcast))
  }
  func setPlayed(_ played: Bool, episode: Int64) {
    if played { state.withLock { $0.queue.removeAll { $0 == episode } } }
    change(episode) { $0.listening.setPlayed(played, now: 1) }
  }
  func setPosition(_ milliseconds: Int64, episode: Int64, margin: Int) {
    change(episode) { $0.listening.setPosition(milliseconds, duration: $0.duration, margin: margin, now: 1) }
  }
  func setHidden(_ hidden: Bool, episode: Int64) { change(episode) { $0.hidden = hidden } }
  func restoreHidden(podcast: Int64) {
    state.withLock { state in
      for index in (state.episodes[podcast] ?? []).indices { state.episodes[podcast]?[index].hidden = false }
    }
    announce(.podcast(podcast))
  }
  private func change(_ id: Int64, _ body: (inout Episode) -> Void) {
    state.withLock { state in
      for podcast in state.episodes.keys {
        guard let index = state.episodes[podcast]?.firstIndex(where: { $0.id == id }) else { continue }
        if var episode = state.episodes[podcast]?[index] {
          body(&episode)
          state.episodes[podcast]?[index] = episode
        }
      }
    }
    announce(.episode(id))
  }
  /// A file "link" names a feed, "page" a page without one.
  func importOPML(_ bytes: [UInt8]) throws -> OPMLImport {
    if let link = ["link", "page"].first(where: { bytes == Array($0.utf8) }) {
      var result = OPMLImport(added: 0, known: 0, problems: [])
      result.link = link
      return result
    }
    if bytes == Array("bad".utf8) {
      var result = OPMLImport(added: 0, known: 0, problems: ["bad"])
      result.refused = 1
      return result
    }
    if bytes == Array("<opml><body/></opml>".utf8) { return OPMLImport(added: 0, known: 0, problems: []) }
    guard bytes.starts(with: "<opml".utf8) else { throw CatalogError(.EINVAL, "not OPML") }
    return OPMLImport(added: 1, known: 0, problems: state.withLock { $0.importProblems })
  }
  func exportOPML() -> [UInt8] { Array("<opml/>".utf8) }
  func feedSettings(ofPodcast id: Int64) -> FeedSettings? { nil }
  func rules(ofPodcast id: Int64) -> SubscriptionRules { state.withLock { $0.rules } }
  func setRules(_ values: [(key: SubscriptionRules.Key, value: String)], ofPodcast id: Int64) throws {
    try state.withLock { state in
      for (key, value) in values {
        do { try state.rules.set(key, to: value) } catch { throw CatalogError(.EINVAL, "\(error)") }
      }
    }
  }
  func noteByHand(episode: Int64) { state.withLock { _ = $0.byHand.insert(episode) } }
  func setFeedURL(_ address: String, ofSubscription id: Int64) throws {
    guard address.contains("://") else { throw CatalogError(.EINVAL, "not a feed address") }
    let podcast = state.withLock { state in
      let index = state.subscriptions.firstIndex { $0.id == id }
      guard let index else { return Int64(0) }
      state.subscriptions[index].podcast.feedURL = WebAddress(address)
      return state.subscriptions[index].podcast.id
    }
    announce(.subscription(id, podcast: podcast))
  }
  func rename(subscription id: Int64, to name: String) {
    let podcast = state.withLock { state in
      let index = state.subscriptions.firstIndex { $0.id == id }
      guard let index else { return Int64(0) }
      state.subscriptions[index].name = name
      return state.subscriptions[index].podcast.id
    }
    announce(.subscription(id, podcast: podcast))
  }
  func feeds(inOPML bytes: [UInt8]) throws -> [WebAddress] { [] }
  func subscriptionListSize() -> Int64 { Int64(exportOPML().count) }
  func noteUpload() {
    state.withLock { $0.folderTimes.uploads = wallClockNanoseconds() }
    announce(.subscriptions)
  }
  func folderTimes() -> FolderTimes { state.withLock { $0.folderTimes } }
  func subscription(_ id: Int64) -> ListedPodcast? { subscriptions().first { $0.id == id } }
  func search(_ id: Int64) -> Search? { searches().first { $0.id == id } }
  func result(_ id: Int64) -> ListedPodcast? {
    state.withLock { $0.results.values.lazy.flatMap { $0 }.first { $0.id == id } }
  }
  func episodes(_ ids: [Int64]) -> [Episode] {
    state.withLock { $0.episodes.values.flatMap { $0 }.filter { ids.contains($0.id) } }
  }

  func commits() -> Int64 { state.withLock { Int64($0.commits.count) } }
  func commits(after number: Int64) -> [CatalogCommit] {
    state.withLock { Array($0.commits[Int(number)...]) }
  }

  func observe(_ observer: @escaping @Sendable () -> Void) {
    state.withLock { $0.observer = Callback { observer() } }
  }

  func announce(_ changes: CatalogChange...) {
    let observer = state.withLock { state in
      state.commits.append(CatalogCommit(number: Int64(state.commits.count + 1), changes: changes))
      return state.observer
    }
    observer?()
  }
}
