internal import Configuration
internal import PodcastModel

/// A small file beside a podcast's episodes, by what its feed says: its cover, a transcript, chapters, show
/// notes.
struct Sidecar: Hashable, Sendable {
  let node: NodeID
  let name: String
  /// Where it is, as its feed says; nil for show notes: the catalogue has them.
  let url: WebAddress?
  /// The address of that feed.
  let feedURL: WebAddress
  let podcastID: Int64
  /// Whether its host may be a private one.
  let allowsPrivateHosts: Bool
  /// Seconds since 1970: its episode's time; of a cover, when its podcast became known.
  let modified: Int64
  /// In bytes: what such a file usually takes, never 0.
  let estimate: Int64

  /// Where it is fetched from.
  var address: WebAddress? { url.map { FeedCredentials.lent(by: feedURL, to: $0) } }

  /// Names its copy in the cache. The node alone would not do: a feed may give another address for it.
  var key: SidecarKey { SidecarKey(node: node, address: url ?? "") }
}

/// Names the copy of a sidecar in the cache.
struct SidecarKey: Hashable, Sendable {
  private let node: UInt64
  private let address: UInt64

  init(node: NodeID, address: WebAddress) {
    self.node = node.inode
    // FNV-1a: listings ask for thousands, and only addresses of the same node need to be told apart.
    self.address = address.forRequest.utf8.reduce(0xcbf2_9ce4_8422_2325) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
  }

  /// - Returns: nil where `fileName` is not what `fileName` gives.
  init?(fileName: String) {
    let parts = fileName.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let node = UInt64(parts[0], radix: 16), let address = UInt64(parts[1], radix: 16)
    else { return nil }
    self.node = node
    self.address = address
  }

  var nodeID: NodeID { NodeID(rawValue: node) }

  /// The podcast that it belongs to; nil where the name of its copy was no name of ours.
  var podcast: Int64? {
    switch nodeID.kind {
    case .cover: nodeID.row
    case .chapters, .notes, .transcript: PodcastTree.podcast(ofEpisode: nodeID.row)
    default: nil
    }
  }

  var fileName: String { String(node, radix: 16) + "-" + String(address, radix: 16) }
}

/// Which sidecars a feed names. Pure rules: nothing is fetched or looked up for them.
extension Sidecar {
  static func cover(of podcast: Podcast) -> Sidecar? {
    guard let url = podcast.imageURL, url.isWeb else { return nil }
    return Sidecar(
      node: NodeID(.cover, podcast.id), name: "cover" + MediaType.imageExtension(type: nil, url: url),
      url: url, feedURL: podcast.feedURL, podcastID: podcast.id,
      allowsPrivateHosts: podcast.allowsPrivateHosts, modified: podcast.created, estimate: 200_000)
  }

  /// Those that share the stem of an episode.
  static func all(of episode: EpisodeSummary, in podcast: Podcast, _ kinds: Set<Settings.Sidecar>)
    -> [Sidecar]
  {
    var list: [Sidecar] = []
    if kinds.contains(.transcript), !episode.transcripts.isEmpty {
      list = transcripts(of: episode, in: podcast)
    }
    if kinds.contains(.chapters), let url = episode.chaptersURL, url.isWeb {
      list.append(
        Sidecar(NodeID(.chapters, episode.id), episode, in: podcast, ".chapters.json", url, estimate: 4096))
    }
    if kinds.contains(.notes), episode.notesLength > 0 {
      list.append(
        Sidecar(
          NodeID(.notes, episode.id), episode, in: podcast, ".txt", nil, estimate: Int64(episode.notesLength))
      )
    }
    return list
  }

  /// One of each kind has the episode's very stem, which players look for first: the one in the podcast's
  /// language, else the first. The others have their language before the extension, as players expect it:
  /// "2024-01-03 - A quiet harbour.de.vtt".
  private static func transcripts(of episode: EpisodeSummary, in podcast: Podcast) -> [Sidecar] {
    let usable = episode.transcripts.prefix(NodeID.transcriptLimit).enumerated().compactMap {
      index, transcript -> (index: Int, transcript: Transcript, ending: String)? in
      guard transcript.url.isWeb,
        let ending = MediaType.transcriptExtension(type: transcript.type, url: transcript.url)
      else { return nil }
      return (index, transcript, ending)
    }
    let own = podcast.language.map(primaryLanguage)
    var plain: [String: Int] = [:]
    for item in usable where plain[item.ending] == nil {
      let best = usable.first { other in
        guard other.ending == item.ending else { return false }
        return other.transcript.language.map { primaryLanguage($0) == own } ?? true
      }
      plain[item.ending] = (best ?? item).index
    }
    var taken: Set<String> = []
    return usable.compactMap { item in
      var ending = item.ending
      if plain[item.ending] != item.index {
        guard let language = item.transcript.language, isLanguageTag(language) else { return nil }
        ending = "." + language + ending
      }
      guard taken.insert(ending).inserted else { return nil }
      let seconds = Int64(episode.duration.flatMap { (1...360_000).contains($0) ? $0 : nil } ?? 1800)
      return Sidecar(
        .transcript(episode: episode.id, index: item.index), episode, in: podcast, ending,
        item.transcript.url,
        estimate: seconds * bytesPerSecond)
    }
  }

  /// Of a transcript, with its time stamps.
  private static let bytesPerSecond: Int64 = 30

  private static func primaryLanguage(_ tag: String) -> String {
    tag.prefix { $0 != "-" && $0 != "_" }.lowercased()
  }

  /// What may stand in a file's name (RFC 5646 §2.1 has such tags of at most 35 bytes).
  private static func isLanguageTag(_ text: String) -> Bool {
    (2...35).contains(text.utf8.count)
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 32) || $0 == 45 }
  }

  private init(
    _ node: NodeID, _ episode: EpisodeSummary, in podcast: Podcast, _ ending: String, _ url: WebAddress?,
    estimate: Int64
  ) {
    self.init(
      node: node, name: episode.stem + ending, url: url, feedURL: podcast.feedURL,
      podcastID: podcast.id, allowsPrivateHosts: podcast.allowsPrivateHosts,
      modified: episode.modified, estimate: estimate)
  }
}
