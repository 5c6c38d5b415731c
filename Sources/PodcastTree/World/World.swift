internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// The tree's state in memory: rows of the catalogue, states of downloads, open episodes, and the listings made of them.
/// Only the tree's own thread changes it.
struct World: Sendable {
  // MARK: Rows of the catalogue; nil before they have been read

  var searches: [Search]?
  /// By name.
  var subscriptions: [Folder]?
  private(set) var subscriptionOfPodcast: [Int64: Folder] = [:]
  private(set) var subscriptionByID: [Int64: Folder] = [:]
  /// By search.
  var results: [Int64: [Folder]] = [:]
  var resultByID: [Int64: Folder] = [:]
  /// By podcast: the results that show it, and which of its episodes are hidden in each.
  var appearances: [Int64: [Int64: Set<Int64>]] = [:]
  var shelves: [Int64: Shelf] = [:]
  var latest: Latest?
  /// When the catalogue's lists last changed.
  var folderTimes = FolderTimes()
  /// When a podcast that is followed last listed something else.
  private var newestFolder: FileTime?
  /// When a first look into a podcast last ended.
  var firstLookEnded: MonotonicTime?
  /// In bytes, of the list of subscriptions as it is now; nil before it has been made.
  var subscriptionListSize: Int64?

  // MARK: Transfers

  var downloads = Downloads()

  // MARK: What is open

  var open = OpenEpisodes()
  /// In bytes, of the show notes that were opened, by episode.
  var noteSizes: [Int64: Int64] = [:]
  var uploads: [Int64: Upload] = [:]
  var nextUpload: Int64 = 1

  // MARK: What is listed

  var listings: [NodeID: Listing] = [:]
  /// Directories that were listed, the one last asked for at the end.
  private var listingUse: [NodeID] = []

  /// So many names are kept; the directory asked for last always is.
  static let namesInMemory = 25_000

  mutating func setSubscriptions(_ folders: [Folder]) {
    subscriptions = folders.sorted { $0.name < $1.name }
    subscriptionOfPodcast = Dictionary(
      folders.map { ($0.podcast, $0) }, uniquingKeysWith: { first, _ in first })
    subscriptionByID = Dictionary(folders.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    findNewestFolder()
  }

  /// Replaces a subscription of the same name.
  mutating func replaceSubscription(_ folder: Folder) {
    guard let place = subscriptions?.firstIndex(where: { $0.id == folder.id }) else { return }
    subscriptions?[place] = folder
    subscriptionOfPodcast[folder.podcast] = folder
    subscriptionByID[folder.id] = folder
    findNewestFolder()
  }

  /// What a wrong clock has left far ahead does not bind.
  private mutating func findNewestFolder() {
    let limit = FileTime(FileTime.now.seconds + 86_400)
    newestFolder = subscriptions?.lazy.compactMap(\.changed).filter { $0 < limit }.max()
  }

  mutating func setResults(_ folders: [Folder], of search: Int64) {
    for folder in results[search] ?? [] { resultByID[folder.id] = nil }
    results[search] = folders
    for folder in folders { resultByID[folder.id] = folder }
  }

  mutating func forgetResults(of search: Int64) {
    for folder in results.removeValue(forKey: search) ?? [] { resultByID[folder.id] = nil }
  }

  func time(_ list: KeyPath<FolderTimes, Int64>) -> FileTime? {
    let time = folderTimes[keyPath: list]
    return time > 0 ? FileTime(sinceEpoch: time) : nil
  }

  /// The time of `Latest/`: the newest change of the subscriptions' listings, or of their list.
  var latestTime: FileTime? { [newestFolder, time(\.subscriptions)].compactMap(\.self).max() }

  /// The podcast that a directory or a cover shows.
  func podcast(shownBy node: NodeID) -> Int64? {
    switch node.kind {
    case .result: resultByID[node.row]?.podcast
    case .subscription: subscriptionByID[node.row]?.podcast
    case .downloadedPodcast, .cover: node.row
    default: nil
    }
  }

  /// A cover or a file beside an episode, as it is listed.
  func sidecar(_ node: NodeID) -> ListedSidecar? {
    if node.kind == .cover { return shelves[node.row]?.cover ?? downloads.cover(of: node.row) }
    return episode(node.row)?.sidecars.first { $0.node == node }
  }

  /// The directories of searches and subscriptions that show a podcast, and its folder of downloads.
  func folders(showing podcast: Int64) -> [NodeID] {
    // Where its appearances have not been read, a folder may have been looked up all the same.
    let results = appearances[podcast].map { Array($0.keys) }
    let found = results ?? resultByID.values.filter { $0.podcast == podcast }.map(\.id)
    var nodes = found.map { NodeID(.result, $0) }
    if let folder = subscriptionOfPodcast[podcast] { nodes.append(NodeID(.subscription, folder.id)) }
    return nodes + [NodeID(.downloadedPodcast, podcast)]
  }

  /// Whether a directory shows an episode of its podcast.
  func shows(_ episode: ListedEpisode, in folder: NodeID) -> Bool {
    switch folder.kind {
    case .subscription: !episode.isHidden
    case .result: appearances[episode.podcast]?[folder.row]?.contains(episode.id) != true
    default: true
    }
  }

  /// From memory; nil where it would have to be read.
  func episode(_ id: Int64) -> ListedEpisode? {
    shelves[PodcastTree.podcast(ofEpisode: id)]?.episode(id) ?? downloads.episode(id) ?? latest?.episode(id)
  }

  func node(of episode: ListedEpisode) -> NodeID { episode.node(downloads.status(episode.mediaKey)) }

  /// How many views show an episode.
  func linkCount(of episode: ListedEpisode) -> Int {
    var count = appearances[episode.podcast]?.values.count { !$0.contains(episode.id) } ?? 0
    if !episode.isHidden, subscriptionOfPodcast[episode.podcast] != nil { count += 1 }
    if latest?.view.contains(episode.id) == true { count += 1 }
    if downloads.shows(episode.id) { count += 1 }
    return count
  }

  // MARK: Listings

  mutating func touch(_ node: NodeID) {
    if listingUse.last == node { return }
    if let place = listingUse.lastIndex(of: node) { listingUse.remove(at: place) }
    listingUse.append(node)
  }

  mutating func store(_ listing: Listing, of node: NodeID) {
    listings[node] = listing
    touch(node)
    var total = listings.values.reduce(0) { $0 + $1.items.count }
    while total > Self.namesInMemory, let oldest = listingUse.first, oldest != node {
      listingUse.removeFirst()
      // A view's listing is no more than the view, which stays.
      guard let dropped = listings[oldest], oldest.kind != .fixed else { continue }
      total -= dropped.items.count
      listings[oldest] = nil
    }
    prune()
  }

  /// A directory that is no more.
  mutating func forget(_ node: NodeID) {
    listings[node] = nil
    listingUse.removeAll { $0 == node }
  }

  /// Forgets podcasts that no listing in memory shows any more.
  mutating func forgetUnshown(_ podcasts: Set<Int64>) {
    if podcasts.isEmpty { return }
    let shown = Set(listings.keys.compactMap { podcast(shownBy: $0) }).union(downloads.podcasts)
      .union(latest?.podcasts ?? [])
    for podcast in podcasts where !shown.contains(podcast) {
      shelves[podcast] = nil
      appearances[podcast] = nil
    }
  }

  /// Shelves that no listing is made of, and appearances of podcasts that nothing in memory shows.
  private mutating func prune() {
    let shown = Set(listings.keys.compactMap { podcast(shownBy: $0) })
    for podcast in shelves.keys where !shown.contains(podcast) { shelves[podcast] = nil }
    if appearances.count <= 2 * (shown.count + downloads.podcasts.count) + 256 { return }
    let needed = shown.union(downloads.podcasts).union(latest?.podcasts ?? [])
    appearances = appearances.filter { needed.contains($0.key) }
  }
}
