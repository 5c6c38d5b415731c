internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// What the tree has in memory. Searches, subscriptions, the newest episodes and what has been downloaded are
/// always here; episodes only of podcasts that were looked at.
struct TreeState: Sendable {
  var searches: [Search] = []
  var subscriptions: [ListedPodcast] = []
  /// Of `subscriptions.opml`, in bytes.
  var subscriptionListSize: Int64 = 0
  /// By search.
  var results: [Int64: [ListedPodcast]] = [:]
  /// Which podcast a result's or subscription's directory shows, also after it has moved.
  var podcastOfResult: [Int64: Int64] = [:]
  var podcastOfSubscription: [Int64: Int64] = [:]

  /// By podcast.
  var shelves: [Int64: Shelf] = [:]
  /// Podcasts with a shelf, the one looked at last at the end.
  var shelfUse: [Int64] = []
  var podcastOfEpisode: [Int64: Int64] = [:]
  var appearances: [Int64: Appearances] = [:]

  /// Episodes that the transfers know.
  var known: [MediaKey: EpisodeEntry] = [:]
  /// Episodes by number that were met outside a shelf.
  var loose: [Int64: EpisodeEntry] = [:]
  var standing: [MediaKey: Standing] = [:]
  var downloading = ViewListing()
  var downloaded: [Int64: [EpisodeEntry]] = [:]
  var latest = ViewListing()

  /// Open files by episode, and episodes whose download is dropped when the last is closed.
  var openCounts: [Int64: Int] = [:]
  /// The exact sizes of the nodes that are open: theirs whatever becomes of the episode.
  var openSizes: [NodeID: OpenSize] = [:]
  var dropsAtClose: Set<Int64> = []
  /// Episodes whose last open was answered ESTALE, and the nodes that the kernel then finds.
  var staleOpens: [Int64: NodeID] = [:]
  /// Folders of `Downloaded/` that have just lost their last episode, and until when they can be looked up.
  var emptied: [Int64: MonotonicTime] = [:]
  /// In bytes, of the show notes that were opened, by episode.
  var noteSizes: [Int64: Int64] = [:]
  /// Files that are being copied to `Subscriptions/`, and for ten seconds after.
  var uploads: [Int64: Upload] = [:]
  var nextUpload: Int64 = 1

  /// What was last seen of a download, to tell which change matters to whom.
  struct Standing: Hashable {
    var state: TransferState
    var generation: UInt32
    /// Where names lead; nil where no entry was at hand.
    var node: NodeID?
    enum View { case none, downloading, downloaded }

    init(_ status: TransferStatus?) {
      state = status?.state ?? .remote
      generation = status?.generation ?? 0
    }

    /// The view that shows it.
    var view: View {
      switch state {
      case .queued, .downloading, .paused, .failed: .downloading
      case .cached: .downloaded
      case .remote: .none
      }
    }
  }

  /// Podcasts are kept in memory up to so many episodes; the one looked at last always is.
  static let episodesInMemory = 40_000

  func subscription(ofPodcast id: Int64) -> ListedPodcast? { subscriptions.first { $0.podcast.id == id } }

  mutating func keep(_ shelf: Shelf) {
    let id = shelf.podcast.id
    shelves[id] = shelf
    for episode in shelf.episodes { podcastOfEpisode[episode.id] = id }
    touch(id)
    var total = shelves.values.reduce(0) { $0 + $1.episodes.count }
    while total > Self.episodesInMemory, let oldest = shelfUse.first, oldest != id {
      shelfUse.removeFirst()
      guard let dropped = shelves.removeValue(forKey: oldest) else { continue }
      for episode in dropped.episodes { podcastOfEpisode[episode.id] = nil }
      total -= dropped.episodes.count
    }
  }

  mutating func touch(_ podcast: Int64) {
    if shelfUse.last == podcast { return }
    shelfUse.removeAll { $0 == podcast }
    shelfUse.append(podcast)
  }
}
