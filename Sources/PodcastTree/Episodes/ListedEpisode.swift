internal import Catalog
internal import Configuration
internal import PodcastModel
internal import Transcripts
internal import TransferProtocol

/// What a listing needs of an episode. All else that the catalogue knows is read when somebody asks for it, so
/// that a hundred thousand listed episodes take little room.
final class ListedEpisode: Sendable {
  let id: Int64
  let mediaKey: MediaKey
  /// The file's name in its podcast's directory.
  let name: String
  private let stemLength: Int32
  /// The file's time of modification, in seconds since 1970.
  let modified: Int64
  /// The feed's length where it may be one, and what such an episode usually takes; in bytes.
  let feedLength: Int64?
  let estimate: Int64
  /// Seconds since 1970.
  let published: Int64
  /// In seconds, and the season; below 0 where the feed has none.
  private let duration: Int32
  private let season: Int32
  let isHidden: Bool
  let isPlayed: Bool
  let isBegun: Bool
  /// By the names that they have beside the episode.
  let sidecars: [Sidecar]

  init(
    _ episode: Episode, of podcast: Podcast, _ kinds: Set<Settings.Sidecar>, own: [OwnTranscript] = []
  ) {
    id = episode.id
    mediaKey = episode.mediaKey
    name = episode.fileName
    stemLength = Int32(episode.stem.utf8.count)
    modified = episode.modified
    feedLength = EpisodeSize.plausibleLength(of: episode)
    estimate = EpisodeSize.estimate(of: episode)
    isHidden = episode.hidden
    isPlayed = episode.played
    isBegun = episode.listening.position > 0
    published = episode.published
    duration = episode.duration.map { Int32(clamping: max($0, 0)) } ?? -1
    season = episode.season.map { Int32(clamping: max($0, 0)) } ?? -1
    sidecars = Sidecar.all(of: episode, in: podcast, kinds, own: own)
  }

  var podcast: Int64 { EpisodeID.podcast(of: id) }

  /// What queries look at, but for its download and the queue.
  /// - Parameters:
  ///   - show: its podcast's title.
  ///   - folder: the name of its subscription; nil where it is not followed.
  func facts(show: String, folder: String?) -> EpisodeFacts {
    var facts = EpisodeFacts(
      id: id, title: EpisodeQuery.titleKey(ofStem: stem), show: show, published: published)
    facts.duration = duration < 0 ? nil : Int(duration)
    facts.season = season < 0 ? nil : Int(season)
    if isHidden { facts.marks.insert(.hidden) }
    if isPlayed { facts.marks.insert(.played) }
    if isBegun { facts.marks.insert(.begun) }
    facts.folder = folder
    if folder != nil { facts.marks.insert(.followed) }
    return facts
  }

  var stem: String { String(decoding: name.utf8.prefix(Int(stemLength)), as: UTF8.self) }

  /// Whether listings show it as they show `other`.
  func looks(like other: ListedEpisode) -> Bool {
    self === other
      || id == other.id && mediaKey == other.mediaKey && name == other.name && modified == other.modified
        && feedLength == other.feedLength && estimate == other.estimate && isHidden == other.isHidden
        && sidecars.elementsEqual(other.sidecars) { $0 === $1 || $0.name == $1.name && $0.key == $1.key }
  }

  /// Its node as it is now: a new representation is a new node.
  func node(_ status: TransferStatus?) -> NodeID {
    node(generation: status?.generation ?? 0, size: status?.total)
  }

  /// - Parameter size: the exact one, nil while it is not known.
  func node(generation: UInt32, size: Int64?) -> NodeID {
    let kind: NodeID.Size =
      if let size { size == EpisodeSize(self, nil).bytes ? .asShown : .corrected } else {
        generation > 0 ? .unknown : .asShown
      }
    return NodeID(.episode, id, generation: generation, size: kind)
  }
}
