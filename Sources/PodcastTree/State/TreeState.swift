internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import Transcripts
internal import TransferProtocol

/// The tree in memory, as a value: rows of the catalogue, states of downloads, what is open, and the listings made of them.
/// It knows no catalogue, no lock and no thread. Rows change by `apply` alone; those that were never read are nil.
struct TreeState: Sendable {
  /// With the categories of `Discover/` and their languages.
  var searches: [Search]?
  var hasDirectory = false
  /// By search.
  var results: [Int64: [Folder]] = [:]
  /// By name.
  var subscriptions: [Folder]?
  var folders: [NodeID: Folder] = [:]
  /// By podcast.
  var followed: [Int64: NodeID] = [:]
  var listTimes = FolderTimes()
  /// In bytes, of the list of subscriptions as it is now; nil before it has been made.
  var subscriptionListSize: Int64?
  /// Podcasts that something in memory shows.
  var podcasts: [Int64: PodcastEntry] = [:]
  var copies: [SidecarKey: SidecarCopy]?
  var own: [MediaKey: [OwnTranscript]]?
  var statuses: [MediaKey: TransferStatus] = [:]
  /// The episodes that have a download, as far as the catalogue knows them.
  var downloads: [Int64: ListedEpisode] = [:]
  var downloadOfKey: [MediaKey: Int64] = [:]
  var views: Views
  var open = OpenEpisodes()
  var uploads: [NodeID: Upload] = [:]
  var nextUpload: Int64 = 1
  var listings: [NodeID: Listing] = [:]

  /// Of more names, only those of the directory asked for last are kept.
  static let namesInMemory = 25_000

  /// From memory; nil where it would have to be read.
  func episode(_ id: Int64) -> ListedEpisode? {
    podcasts[EpisodeID.podcast(of: id)]?.episode(id) ?? downloads[id]
      ?? views.mixed.lazy.compactMap { views[$0]?.episode(id) }.first
  }

  var cachedBytes: Int64 { statuses.values.reduce(0) { $0 + $1.received } }
  func count(of state: TransferState) -> Int { statuses.values.count { $0.state == state } }
  func status(of episode: ListedEpisode) -> TransferStatus? { statuses[episode.mediaKey] }
  func node(of episode: ListedEpisode) -> NodeID { episode.node(status(of: episode)) }

  /// Absent also where the download goes when the last reader closes it.
  func stage(of episode: ListedEpisode) -> DownloadStage { status(of: episode)?.stage ?? .absent }

  func podcast(shownBy node: NodeID) -> Int64? {
    switch node.kind {
    case .result, .subscription: folders[node]?.podcast
    case .downloadedPodcast, .cover: node.row
    default: nil
    }
  }

  func folders(showing podcast: Int64) -> [NodeID] {
    // Where its row has not been read, a directory may have been looked up all the same.
    let known = podcasts[podcast].map { $0.results.keys.map { NodeID(.result, $0) } }
    let nodes = known ?? folders.filter { $0.key.kind == .result && $0.value.podcast == podcast }.map(\.key)
    return nodes + (followed[podcast].map { [$0] } ?? [])
  }

  func shows(_ episode: ListedEpisode, in folder: NodeID) -> Bool {
    if folder.kind == .subscription { return !episode.isHidden }
    return podcasts[episode.podcast]?.results[folder.row]?.contains(episode.id) != true
  }

  func linkCount(of episode: ListedEpisode) -> Int {
    let hidden = podcasts[episode.podcast]?.results.values
    let isListed = followed[episode.podcast] != nil && !episode.isHidden
    return (hidden?.count { !$0.contains(episode.id) } ?? 0) + (isListed ? 1 : 0)
      + views.all(ofEpisode: episode.id).count { views[$0]?.name(of: episode.id) != nil }
  }

  func sidecar(_ node: NodeID) -> Sidecar? {
    switch node.kind {
    case .cover: podcasts[node.row]?.cover
    default: episode(node.row)?.sidecars.first { $0.node == node } ?? uploads[node]?.sidecar
    }
  }

  func copy(of sidecar: Sidecar) -> SidecarCopy? { copies?[sidecar.key] }

  /// Whether its bytes are on this machine: `Downloaded/` lists it then.
  func isHere(_ sidecar: Sidecar) -> Bool {
    !sidecar.isRemote || copy(of: sidecar).map { !$0.isMissing } ?? false
  }

  /// Whether other directories list it: not where its host does not have it.
  func isListed(_ sidecar: Sidecar) -> Bool { copy(of: sidecar).map { !$0.isMissing || !$0.isFresh } ?? true }

  /// When what a folder lists last changed, or ENOENT where it is gone; nil where its rows are to be read first.
  func presence(of folder: NodeID) -> Result<FileTime?, Errno>? {
    switch (folder, folder.kind) {
    case (.search, _): return searches == nil ? nil : .success(time(listTimes.searches))
    case (.subscriptions, _):
      if subscriptions == nil { return nil }
      return .success(time(max(listTimes.subscriptions, listTimes.uploads)))
    case (.latest, _): return subscriptions == nil ? nil : .success(latestTime)
    case (_, .search):
      guard let searches else { return nil }
      guard let search = searches.first(where: { $0.id == folder.row }) else { return .failure(.ENOENT) }
      return .success([time(search.changed), views.times[folder]].compactMap(\.self).max())
    case (_, .result): return folders[folder].map { .success($0.changed) }
    // Shows sort by news.
    case (_, .subscription): return folders[folder].map { .success($0.newest ?? $0.changed) }
    default: return .success(views.times[folder])
    }
  }

  func time(_ nanoseconds: Int64) -> FileTime? { nanoseconds > 0 ? FileTime(sinceEpoch: nanoseconds) : nil }

  /// When what `Latest/` lists last changed. It ignores times of podcasts that a wrong clock put more than a day ahead.
  private var latestTime: FileTime? {
    let limit = FileTime(FileTime.now.seconds + 86_400)
    let newest = subscriptions?.lazy.compactMap(\.changed).filter { $0 < limit }.max()
    return [newest, time(listTimes.subscriptions)].compactMap(\.self).max()
  }

  /// The directory that a node is in, and its name there; nil where memory does not say, and of episodes, which several
  /// directories show.
  func place(of node: NodeID) -> (parent: NodeID, name: String)? {
    switch node.kind {
    case .fixed:
      return FixedNode.all.first { $0.node == node }.map { ($0.parent, $0.name) }
    case .search:
      guard let search = searches?.first(where: { $0.id == node.row }) else { return nil }
      guard let category = search.category else { return (.search, search.name) }
      guard let language = search.language else { return (.discover, category) }
      return self.category(of: search).map { ($0, language) }
    case .result:
      let search = results.first { $0.value.contains { $0.id == node.row } }?.key
      return search.flatMap { id in folders[node].map { (NodeID(.search, id), $0.name) } }
    case .subscription: return folders[node].map { (.subscriptions, $0.name) }
    case .downloadedPodcast:
      return (views[node]?.name ?? podcasts[node.row]?.name).map { (.downloaded, $0) }
    case .upload: return uploads[node]?.name.map { (.subscriptions, $0) }
    default: return nil
    }
  }

  /// The directory of the category that a search shows, in all languages; nil where it shows none.
  func category(of search: Search) -> NodeID? {
    guard let category = search.category else { return nil }
    let all = searches?.first { $0.language == nil && $0.category == category }
    return all.map { NodeID(.search, $0.id) }
  }

  /// The names that lead from the root to a directory; nil where it is not in memory.
  func path(of directory: NodeID) -> [String]? {
    if directory == .root { return [] }
    return place(of: directory).flatMap { place in path(of: place.parent).map { $0 + [place.name] } }
  }
}
