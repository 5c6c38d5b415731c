internal import Catalog
internal import Configuration
internal import PodcastModel
internal import Transcripts

/// A small file beside a podcast's episodes, by what its feed says: its cover, a transcript, chapters, show notes.
final class Sidecar: Sendable {
  enum Content: Sendable {
    /// It is fetched from there when it is opened.
    case remote(WebAddress)
    case notes
    case own(OwnTranscript)
  }

  let node: NodeID
  let name: String
  let podcast: Int64
  let content: Content
  let key: SidecarKey
  let allowsPrivateHosts: Bool
  /// Seconds since 1970: its episode's time; of a cover, when its podcast became known.
  let modified: Int64
  /// In bytes: what such a file usually takes, never 0.
  let estimate: Int64

  private init(
    _ node: NodeID, _ name: String, _ podcast: Int64, _ content: Content, _ key: SidecarKey,
    allowsPrivateHosts: Bool = false, modified: Int64, estimate: Int64
  ) {
    (self.node, self.name, self.podcast, self.content, self.key) = (node, name, podcast, content, key)
    (self.allowsPrivateHosts, self.modified, self.estimate) = (allowsPrivateHosts, modified, estimate)
  }

  var isRemote: Bool { if case .remote = content { true } else { false } }

  /// By its address alone: whether it may be fetched though nothing is known of the host of its feed.
  var isOnPublicHost: Bool {
    if case .remote(let url) = content, let host = url.host {
      !PrivateHostName.isPrivate(host)
    } else {
      false
    }
  }
}

/// Names the copy of a sidecar in the cache: the node alone would not do, because a feed may give another address for it.
struct SidecarKey: Hashable, Sendable {
  private let number: UInt64
  private let address: UInt64

  init(node: NodeID, address: WebAddress) {
    number = node.inode
    // FNV-1a: listings ask for thousands, and only addresses of the same node need to be told apart.
    self.address = address.forRequest.utf8.reduce(0xcbf2_9ce4_8422_2325) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
  }

  /// - Returns: nil where `fileName` is not what `fileName` gives.
  init?(fileName: String) {
    let parts = fileName.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = UInt64(parts[0], radix: 16),
      let address = UInt64(parts[1], radix: 16)
    else { return nil }
    self.number = number
    self.address = address
  }

  var node: NodeID { NodeID(rawValue: number) }
  var podcast: Int64 { node.kind == .cover ? node.row : EpisodeID.podcast(of: node.row) }
  var fileName: String { String(number, radix: 16) + "-" + String(address, radix: 16) }
}

/// Which sidecars a feed names. Pure rules: nothing is fetched or looked up for them.
extension Sidecar {
  static func cover(of podcast: Podcast) -> Sidecar? {
    guard let url = podcast.imageURL, url.isWeb else { return nil }
    let name = String(coverStem.dropLast()) + MediaType.imageExtension(type: nil, url: url)
    return Sidecar(
      NodeID(.cover, podcast.id), name, url, of: podcast, modified: podcast.created, estimate: 200_000)
  }

  static let coverStem = "cover."

  /// Those that share the stem of an episode.
  /// - Parameter own: the user's own transcripts of it. They win over all transcripts of the feed, and over its notes of the
  ///   same name.
  static func all(
    of episode: Episode, in podcast: Podcast, _ kinds: Set<Settings.Sidecar>, own: [OwnTranscript] = []
  ) -> [Sidecar] {
    let own = own.map { Sidecar(own: $0, of: episode.id, stem: episode.stem) }
    return named(by: episode, in: podcast, kinds).filter { other in
      own.isEmpty || other.node.kind != .transcript && !own.contains { $0.name == other.name }
    } + own
  }

  private static func named(
    by episode: Episode, in podcast: Podcast, _ kinds: Set<Settings.Sidecar>
  ) -> [Sidecar] {
    var list: [Sidecar] = []
    if kinds.contains(.transcript), !episode.transcripts.isEmpty {
      list = transcripts(of: episode, in: podcast, hasNotes: kinds.contains(.notes))
    }
    if kinds.contains(.chapters), let url = episode.chaptersURL, url.isWeb {
      list.append(
        Sidecar(
          NodeID(.chapters, episode.id), episode.stem + ".chapters.json", url, of: podcast,
          modified: episode.modified, estimate: 4096))
    }
    if kinds.contains(.notes), episode.notesLength > 0 {
      let node = NodeID(.notes, episode.id)
      list.append(
        Sidecar(
          node, episode.stem + ".txt", podcast.id, .notes, SidecarKey(node: node, address: ""),
          modified: episode.modified, estimate: Int64(episode.notesLength)))
    }
    return list
  }

  /// One of each kind is listed: the one in the podcast's language, else the first.
  ///
  /// Players show captions only. Of the other formats one is listed, where a feed has no captions: so that what was said can
  /// be read and found.
  /// - Parameter hasNotes: whether the show notes are listed as STEM.txt, so that a transcript cannot have that name.
  private static func transcripts(of episode: Episode, in podcast: Podcast, hasNotes: Bool) -> [Sidecar] {
    let usable = episode.transcripts.prefix(NodeID.transcriptLimit).enumerated().compactMap {
      index, transcript -> (index: Int, transcript: Transcript, ending: String)? in
      guard transcript.url.isWeb,
        let ending = MediaType.transcriptExtension(type: transcript.type, url: transcript.url)
      else { return nil }
      return (index, transcript, ending)
    }
    let endings = Set(usable.map(\.ending))
    let further = [".json", ".html", ".txt"].first { endings.contains($0) && !(hasNotes && $0 == ".txt") }
    let listed =
      endings.isDisjoint(with: [".vtt", ".srt"]) ? [further].compactMap(\.self) : [".vtt", ".srt"]
    let own = podcast.language.map(primaryLanguage)
    let seconds = Int64(episode.duration.flatMap { (1...360_000).contains($0) ? $0 : nil } ?? 1800)
    return listed.compactMap { ending in
      let found = usable.filter { $0.ending == ending }
      let best = found.first { $0.transcript.language.map { primaryLanguage($0) == own } ?? true }
      return (best ?? found.first).map { item in
        Sidecar(
          .transcript(episode: episode.id, index: item.index), episode.stem + ending, item.transcript.url,
          of: podcast, modified: episode.modified, estimate: seconds * bytesPerSecond)
      }
    }
  }

  /// Of a transcript, with its time stamps.
  private static let bytesPerSecond: Int64 = 30

  private static func primaryLanguage(_ tag: String) -> String {
    tag.prefix { $0 != "-" && $0 != "_" }.lowercased()
  }

  convenience init(own: OwnTranscript, of episode: Int64, stem: String) {
    let node = NodeID.ownTranscript(episode: episode, own.ending)
    self.init(
      node, stem + own.ending.rawValue, EpisodeID.podcast(of: episode), .own(own),
      // Another file under the same name looks different.
      SidecarKey(node: node, address: WebAddress("\(own.size) \(own.changed)")),
      modified: own.changed / 1_000_000_000, estimate: own.size)
  }

  /// - Parameter url: from the feed. Its request may use the feed's credentials (`FeedCredentials`).
  private convenience init(
    _ node: NodeID, _ name: String, _ url: WebAddress, of podcast: Podcast, modified: Int64, estimate: Int64
  ) {
    self.init(
      node, name, podcast.id, .remote(FeedCredentials.lent(by: podcast.feedURL, to: url)),
      SidecarKey(node: node, address: url), allowsPrivateHosts: podcast.allowsPrivateHosts,
      modified: modified, estimate: estimate)
  }
}
