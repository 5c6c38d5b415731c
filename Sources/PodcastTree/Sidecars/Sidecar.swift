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
