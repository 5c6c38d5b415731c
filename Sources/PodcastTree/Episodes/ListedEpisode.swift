internal import Catalog
internal import Configuration
package import PodcastModel
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
  let sidecars: [Sidecar]

  init(_ episode: Episode, of podcast: Podcast, _ kinds: Set<Settings.Sidecar>, own: [OwnTranscript] = []) {
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

/// An episode's size, and how well it is known: the attribute `user.podcastfs.size_source`.
package struct EpisodeSize: Hashable, Sendable {
  package enum Source: String, Sendable { case exact, feed, estimate }
  /// In bytes, never 0 unless exact.
  package var bytes: Int64
  package var source: Source
  static let limit: Int64 = 32 << 30

  init(_ episode: ListedEpisode, _ status: TransferStatus?) {
    let received = status?.received ?? 0
    if let total = status?.total {
      self.init(bytes: total, source: .exact)
    } else if let length = episode.feedLength, length >= received {
      self.init(bytes: length, source: .feed)
    } else {
      self.init(bytes: max(episode.estimate, received), source: .estimate)
    }
  }

  /// What st_size is where the server gives no length: rather too much than too little, because programs that
  /// read just so many bytes (tar, rsync) would cut the rest off without a word, where they do complain of a file
  /// that ends before.
  package var whileUnknown: Int64 { source == .exact ? bytes : bytes * 2 + 16 << 20 }

  private init(bytes: Int64, source: Source) {
    self.bytes = bytes
    self.source = source
  }

  /// Feeds give 0, seconds and absurd numbers for lengths: bytes they are between 128 bit/s and 200 Mbit/s
  /// for the duration, and where that is not known more than any episode has seconds.
  /// - Returns: nil where the feed has no length that may be one.
  package static func plausibleLength(of episode: Episode) -> Int64? {
    guard let length = episode.feedLength, length < 1 << 40 else { return nil }
    guard let duration = episode.duration, (1...1_000_000_000).contains(duration) else {
      return length >= 16_384 ? length : nil
    }
    return length > Int64(duration) * 16 && length / 25_000_000 <= Int64(duration) ? length : nil
  }

  /// What such a thing usually takes: 128 kbit/s of sound, 1 Mbit/s of pictures, half an hour where the feed
  /// gives no duration.
  static func estimate(of episode: Episode) -> Int64 {
    let seconds = Int64(episode.duration.flatMap { (1...360_000).contains($0) ? $0 : nil } ?? 1800)
    let isVideo = episode.mediaType?.hasPrefix("video/") ?? false
    return seconds * (isVideo ? 125_000 : 16_000)
  }
}
