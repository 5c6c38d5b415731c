package import Catalog
package import Configuration
package import PodcastModel
package import PosixKit
package import Sync

/// What the tree needs of the catalogue: `Catalog` gives it, tests give a fake. Calls that throw block only
/// for an SQLite query and are made on the tree's own thread; those with a completion end exactly once.
package protocol CatalogService: AnyObject, Sendable {
  func searches() throws -> [Search]
  /// Whether the offline directory is installed.
  var hasDirectory: Bool { get }
  /// Sees to it that the categories of `Discover/` are among the searches.
  func makeCategories() throws
  /// Sees to it that a language of a category is among the searches.
  /// - Returns: false where the directory has none of that name.
  func makeLanguage(_ language: String, ofCategory id: Int64) throws -> Bool
  /// Reads the podcasts of a category, where another directory was installed.
  /// - Returns: whether they were read.
  func fillCategory(_ id: Int64) throws -> Bool
  /// Whether a chart was not read for a day; false for any other search.
  func isChartDue(_ id: Int64) throws -> Bool
  func readChart(
    _ id: Int64, completion: @escaping @Sendable (Result<Void, CatalogError>) -> Void
  ) -> any Cancellable
  func results(ofSearch id: Int64) throws -> [ListedPodcast]
  func subscriptions() throws -> [ListedPodcast]
  func podcast(_ id: Int64) throws -> Podcast?
  func listedEpisodes<Made: Sendable>(ofPodcast id: Int64, as make: (Episode) -> Made) throws -> [Made]
  func episode(_ id: Int64) throws -> Episode?
  func episodes(from id: Int64, count: Int) throws -> [Episode]
  func podcasts(_ ids: [Int64]) throws -> [Podcast]
  /// By podcast: the results, over all searches, that show it, each with the episodes that are hidden there.
  func results(showing podcasts: [Int64]) throws -> [Int64: [Int64: Set<Int64>]]
  func entries(forKeys keys: [MediaKey]) throws -> [MediaKey: EpisodeEntry]
  func episodes(
    selectedBy query: EpisodeQuery, downloads: [EpisodeQuery.State: Set<Int64>], limit: Int
  ) throws -> [Episode]
  func matching(_ query: EpisodeQuery, among ids: [Int64]) throws -> Set<Int64>
  func queueEntries() throws -> [QueueEntry]
  func appendToQueue(_ ids: [Int64]) throws
  func moveInQueue(_ id: Int64, to place: Int) throws
  func removeFromQueue(_ ids: [Int64]) throws

  func search(
    _ name: String, replacing old: Int64?,
    completion: @escaping @Sendable (Result<Search, CatalogError>) -> Void
  ) -> any Cancellable
  func refresh(
    podcast id: Int64, cause: RefreshCause,
    completion: @escaping @Sendable (Result<RefreshOutcome, CatalogError>) -> Void
  ) -> any Cancellable

  func forgetSearch(_ id: Int64) throws
  func hideResult(_ id: Int64) throws
  func hideInSearch(result: Int64, episode: Int64) throws
  func subscribe(result id: Int64, name: String?) throws -> ListedPodcast
  func unsubscribe(_ id: Int64) throws
  func setPlayed(_ played: Bool, episode: Int64) throws
  func setPosition(_ milliseconds: Int64, episode: Int64, margin: Int) throws
  func setHidden(_ hidden: Bool, episode: Int64) throws
  func restoreHidden(podcast: Int64) throws
  func importOPML(_ bytes: [UInt8]) throws -> OPMLImport
  func subscribe(
    address: String, name: String?, isTyped: Bool,
    completion: @escaping @Sendable (Result<ListedPodcast, CatalogError>) -> Void
  ) -> any Cancellable
  func exportOPML() throws -> [UInt8]
  func feedSettings(ofPodcast id: Int64) throws -> FeedSettings?
  func rules(ofPodcast id: Int64) throws -> SubscriptionRules
  func setRules(_ values: [(key: SubscriptionRules.Key, value: String)], ofPodcast id: Int64) throws
  func noteByHand(episode: Int64) throws
  func rename(subscription id: Int64, to name: String) throws
  func setFeedURL(_ address: String, ofSubscription id: Int64) throws
  func noteUpload() throws
  /// The addresses of the feeds in a list.
  func feeds(inOPML bytes: [UInt8]) throws -> [WebAddress]
  func subscriptionListSize() throws -> Int64
  func folderTimes() throws -> FolderTimes
  /// nil where this device does not synchronize.
  func syncStatus(_ settings: SyncSettings?) throws -> SyncStatus?
  func noteSidecar(_ node: Int64) throws
  func subscription(_ id: Int64) throws -> ListedPodcast?
  func search(_ id: Int64) throws -> Search?
  func result(_ id: Int64) throws -> ListedPodcast?
  /// Without their notes, in no order.
  func episodes(_ ids: [Int64]) throws -> [Episode]

  /// How many commits there have been.
  func commits() throws -> Int64
  func commits(after number: Int64) throws -> [CatalogCommit]
  /// Calls `observer` when there may be new commits, by whatever process.
  func observe(_ observer: @escaping @Sendable () -> Void)
}

extension Catalog: CatalogService {}
