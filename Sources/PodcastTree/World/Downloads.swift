internal import PodcastModel
internal import TransferProtocol

/// What the transfers know, as the tree was last told, and the views made of it.
struct Downloads: Sendable {
  private(set) var statuses: [MediaKey: TransferStatus] = [:]
  /// Episodes that the transfers know, as far as the catalogue does.
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
    /// Which episodes it has, as a number.
    var mark: Int64 = 0
  }
  /// Of which podcasts there is a folder, as a number.
  private(set) var downloadedMark: Int64 = 0

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

  /// Takes in what the transfers say.
  /// - Returns: what was known before.
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

  /// A key that is nobody's any more.
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

  /// Puts an episode into the view where it belongs.
  mutating func place(_ known: KnownEpisode, _ view: View) {
    let episode = known.episode
    if view == .downloading { downloading.insert(known) } else { downloading.remove(episode.id) }
    if view == .downloaded {
      if downloaded[episode.podcast] == nil {
        downloaded[episode.podcast] = Folder(name: known.podcastName)
        downloadedMark &+= Scatter.number(episode.podcast)
      }
      if downloaded[episode.podcast]?.episodes.updateValue(episode, forKey: episode.id) == nil {
        downloaded[episode.podcast]?.mark &+= Scatter.number(episode.id)
      }
    } else if downloaded[episode.podcast]?.episodes.removeValue(forKey: episode.id) != nil {
      downloaded[episode.podcast]?.mark &-= Scatter.number(episode.id)
      if downloaded[episode.podcast]?.episodes.isEmpty == true {
        downloaded[episode.podcast] = nil
        downloadedMark &-= Scatter.number(episode.podcast)
      }
    }
  }
}
