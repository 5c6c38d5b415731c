internal import PodcastModel
internal import TransferProtocol

/// The states of downloads as last reported, and the views made of them.
struct Downloads: Sendable {
  private(set) var statuses: [MediaKey: TransferStatus] = [:]
  /// The episodes of these downloads, as far as the catalogue has them.
  private(set) var known: [MediaKey: KnownEpisode] = [:]
  private var keys: [Int64: MediaKey] = [:]
  /// By podcast that has a known episode: the cover that its feed names.
  private var covers: [Int64: ListedSidecar?] = [:]
  private(set) var downloading = CrossView()
  /// By podcast.
  private(set) var downloaded: [Int64: Folder] = [:]
  /// In bytes.
  private(set) var cachedBytes: Int64 = 0
  private(set) var counts: [TransferState: Int] = [:]

  /// A folder of `Downloaded/`.
  struct Folder: Sendable {
    let name: String
    var episodes: [Int64: ListedEpisode] = [:]
    /// Episodes that have left this folder since it was created. Their sidecar files can still be looked up, so that
    /// `rm -r` can remove them.
    var gone: [Int64: ListedEpisode] = [:]
    /// When what it lists last changed.
    var changed = FileTime(0)
  }
  /// When what `Downloading/` and `Downloaded/` list last changed.
  private(set) var changed: [NodeID: FileTime] = [:]

  enum View { case none, downloading, downloaded }

  func status(_ key: MediaKey) -> TransferStatus? { statuses[key] }
  func episode(_ id: Int64) -> ListedEpisode? { keys[id].flatMap { known[$0]?.episode } }
  var podcasts: Set<Int64> { Set(known.values.map(\.episode.podcast)) }

  /// Whether one of its views shows an episode.
  func shows(_ id: Int64) -> Bool {
    downloading.contains(id) || downloaded[PodcastTree.podcast(ofEpisode: id)]?.episodes[id] != nil
  }

  static func view(_ status: TransferStatus?) -> View {
    switch status?.state.stage {
    case .underWay: .downloading
    case .cached: .downloaded
    case .remote, nil: .none
    }
  }

  /// Stores a reported status and updates the totals; nil removes the status.
  /// - Returns: the previous status.
  mutating func set(_ status: TransferStatus?, for key: MediaKey) -> TransferStatus? {
    let old = statuses[key]
    statuses[key] = status
    cachedBytes += (status?.received ?? 0) - (old?.received ?? 0)
    if let old { counts[old.state, default: 0] -= 1 }
    if let status { counts[status.state, default: 0] += 1 }
    return old
  }

  mutating func know(_ key: MediaKey, _ episode: KnownEpisode) {
    if let old = known[key], old.episode.id != episode.episode.id { keys[old.episode.id] = nil }
    known[key] = episode
    keys[episode.episode.id] = key
  }

  /// No episode has this key any more.
  mutating func forget(_ key: MediaKey) {
    if let old = known.removeValue(forKey: key), keys[old.episode.id] == key { keys[old.episode.id] = nil }
  }

  func key(of episode: Int64) -> MediaKey? { keys[episode] }

  func cover(of podcast: Int64) -> ListedSidecar? { covers[podcast] ?? nil }
  func knowsCover(of podcast: Int64) -> Bool { covers[podcast] != nil }
  mutating func setCover(_ cover: ListedSidecar?, of podcast: Int64) {
    covers.updateValue(cover, forKey: podcast)
  }
  mutating func forgetCover(of podcast: Int64) { covers.removeValue(forKey: podcast) }

  /// Puts an episode into the view where it belongs. A folder of `Downloaded/` stays when its last episode goes: see
  /// `removeEmpty`.
  /// - Parameter time: when that happened.
  mutating func place(_ known: KnownEpisode, _ view: View, at time: FileTime) {
    let episode = known.episode
    let wasDownloading = downloading.contains(episode.id)
    if view == .downloading { downloading.insert(known) } else { downloading.remove(episode.id) }
    if wasDownloading != (view == .downloading) { touch(.downloading, time) }
    if view == .downloaded {
      downloaded[episode.podcast, default: Folder(name: known.podcastName)].episodes[episode.id] = episode
      downloaded[episode.podcast]?.gone[episode.id] = nil
    } else if downloaded[episode.podcast]?.episodes.removeValue(forKey: episode.id) != nil {
      downloaded[episode.podcast]?.gone[episode.id] = episode
    } else {
      return
    }
    touchFolder(of: episode.podcast, time)
  }

  /// What a folder of `Downloaded/` lists has changed.
  mutating func touchFolder(of podcast: Int64, _ time: FileTime) {
    if let folder = downloaded[podcast] { downloaded[podcast]?.changed = max(folder.changed, time) }
    touch(.downloaded, time)
  }

  private mutating func touch(_ view: NodeID, _ time: FileTime) {
    changed[view] = max(changed[view] ?? time, time)
  }

  /// Removes a folder of `Downloaded/` that has no episode any more.
  /// - Returns: false where it has some.
  mutating func removeEmpty(_ podcast: Int64) -> Bool {
    guard downloaded[podcast]?.episodes.isEmpty == true else { return false }
    downloaded[podcast] = nil
    touch(.downloaded, .now)
    return true
  }
}
