/// The kernel's number of a node. It says by itself what it stands for: nothing is remembered for a lookup, and the numbers
/// survive a remount.
///
/// Bits 0..<48: the catalogue's row; 48..<53: the kind; 53..<64: an episode's version, because the kernel keeps pages and a
/// size for each node. st_ino is the number without the version: below 2^53, every language's numbers hold it exactly.
package struct NodeID: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package enum Kind: UInt64, Sendable {
    case fixed, search, result, subscription, downloadedPodcast, episode, cover, chapters, notes, upload
    /// The first of as many as an episode has transcripts at most: see `transcript(episode:index:)`.
    case transcript = 16
  }

  /// - Parameters:
  ///   - generation: an episode's; the first one is the node that was there before any byte came.
  ///   - size: another size is another node. So a node's size never changes in the kernel, which would race with reads.
  package init(_ kind: Kind, _ row: Int64, generation: UInt32 = 0, size: Size = .asShown) {
    let version = (UInt64(max(generation, 1) - 1) << 2 | size.rawValue) & 0x7ff
    rawValue = UInt64(bitPattern: row) & Self.rowMask | kind.rawValue << 48 | version << 53
  }

  /// How an episode's size compares to the one that was shown before its first byte came.
  package enum Size: UInt64, Sendable {
    case asShown
    /// Another one, and exact.
    case corrected
    /// The server gives none: see `EpisodeSize.whileUnknown`.
    case unknown
  }

  package var isDirectory: Bool {
    switch kind {
    case .search, .result, .subscription, .downloadedPodcast: true
    case .fixed: (1...7).contains(row) || (13...16).contains(row)
    default: false
    }
  }

  var isOfUnknownSize: Bool { kind == .episode && rawValue >> 53 & 3 == Size.unknown.rawValue }
  private static let rowMask: UInt64 = 1 << 48 - 1

  package var kind: Kind? {
    let number = rawValue >> 48 & 0x1f
    return number >= Kind.transcript.rawValue ? .transcript : Kind(rawValue: number)
  }
  package var row: Int64 { Int64(rawValue & Self.rowMask) }
  package var inode: UInt64 { rawValue & (1 << 53 - 1) }

  /// More transcripts of one episode are not shown. Three more are the user's own ones.
  static let transcriptLimit = 13

  /// A transcript, by its place among those that the feed names. The episode's row takes all other bits, so each place is a
  /// kind of node of its own.
  static func transcript(episode: Int64, index: Int) -> NodeID {
    NodeID(rawValue: NodeID(.transcript, episode).rawValue + UInt64(index) << 48)
  }

  package static let root = NodeID(.fixed, 1)
  package static let search = NodeID(.fixed, 2)
  package static let subscriptions = NodeID(.fixed, 3)
  package static let latest = NodeID(.fixed, 4)
  package static let downloading = NodeID(.fixed, 5)
  package static let downloaded = NodeID(.fixed, 6)
  package static let control = NodeID(.fixed, 7)
  package static let status = NodeID(.fixed, 8)
  package static let events = NodeID(.fixed, 9)
  package static let log = NodeID(.fixed, 10)
  package static let subscriptionList = NodeID(.fixed, 11)
  package static let metrics = NodeID(.fixed, 12)
  package static let discover = NodeID(.fixed, 13)
  package static let paused = NodeID(.fixed, 14)
  package static let failed = NodeID(.fixed, 15)
  package static let queue = NodeID(.fixed, 16)
}
