package import Configuration
package import PodcastModel
internal import PosixKit
package import TransferProtocol

/// The file system proper: nodes, views, names, attributes and verbs, in plain values. It knows no FUSE, and
/// nothing here waits for the network on a caller's thread.
package final class PodcastTree: Sendable {
  let catalog: any CatalogService
  let transfers: any TransferService
  let fetcher: any SidecarFetcher
  let sidecars: SidecarStore
  let settings: Settings
  let places: Places
  package let owner: Owner
  let processName: @Sendable (Int32) -> String?
  /// What the configuration file sets for single feeds, by `FeedKey`.
  let feeds: [String: FeedSettings]
  /// When it came up, in seconds since 1970: the age of directories that have none of their own.
  let started = wallClockSeconds()

  /// SQLite's thread: nothing on it waits for the network.
  let loader = WorkQueue(name: "tree")
  let state = Monitor(TreeState())
  private let invalidator = Monitor<Callback<[Invalidation]>?>(nil)
  let completed = Monitor<Callback<(EpisodeEntry, TransferStatus)>?>(nil)
  let events = EventLog()
  /// The show notes that were asked for last: a program asks for one attribute after the other.
  let notes = Monitor<(id: Int64, text: String?)?>(nil)

  /// - Parameter processName: gives the name of the process a thread belongs to.
  /// - Throws: what the catalogue says where it can't be read.
  package init(
    catalog: any CatalogService, transfers: any TransferService, fetcher: any SidecarFetcher,
    settings: Settings, places: Places, owner: Owner,
    processName: @escaping @Sendable (Int32) -> String? = ProcessNames.name(ofThread:)
  ) throws {
    self.catalog = catalog
    self.transfers = transfers
    self.fetcher = fetcher
    sidecars = SidecarStore(directory: places.cache + "/sidecars")
    self.settings = settings
    self.places = places
    feeds = Dictionary(
      settings.feeds.map { (FeedKey.text(WebAddress($0.key)), $0.value) },
      uniquingKeysWith: { first, _ in first })
    self.owner = owner
    self.processName = processName
    try loadSearches()
    try loadSubscriptions()
    try loadLatest()
    transfers.observe { [weak self] key in
      guard let self else { return }
      loader.async { self.transferChanged(key) }
    }
    catalog.observe { [weak self] change in
      guard let self else { return }
      loader.async { self.catalogChanged(change) }
    }
    try loadKnown(transfers.allStatuses().map(\.key))
    rebuildDownloads()
    let entries = state.withLock { $0.known }
    let standing = transfers.allStatuses().map { status in
      var standing = TreeState.Standing(status)
      standing.node = entries[status.key].map { Self.node(of: $0.episode, status) }
      return (status.key, standing)
    }
    state.withLock { $0.standing = Dictionary(standing, uniquingKeysWith: { first, _ in first }) }
  }

  /// Sees to what the configuration wants to be here; on the tree's own thread.
  package func begin() {
    loader.async { [self] in
      for podcast in state.withLock({ $0.subscriptions.map(\.podcast.id) }) {
        try? keepEpisodes(ofPodcast: podcast)
      }
    }
  }

  /// Takes up searches that were made past the tree, before anybody lists them.
  package func reloadSearches() {
    try? searchesChanged()
  }

  /// Says who tells the kernel what to forget; called from the tree's threads, in order.
  package func onInvalidation(_ handler: @escaping @Sendable ([Invalidation]) -> Void) {
    invalidator.withLock { $0 = Callback(handler) }
  }

  /// Says who hears of downloads that become complete while the tree is up; called from the tree's own thread,
  /// which it must not hold up.
  package func onCompletion(_ handler: @escaping @Sendable (EpisodeEntry, TransferStatus) -> Void) {
    completed.withLock { $0 = Callback { handler($0.0, $0.1) } }
  }

  func invalidate(_ invalidations: [Invalidation]) {
    if invalidations.isEmpty { return }
    invalidator.withLock { $0 }?(invalidations)
  }

  /// Whether the calling program is one whose open starts nothing (`no_trigger`).
  func isBarred(_ caller: Caller) -> Bool {
    guard let name = processName(caller.thread) else { return false }
    return settings.noTrigger.contains { $0.utf8.prefix(15).elementsEqual(name.utf8) }
  }
}
