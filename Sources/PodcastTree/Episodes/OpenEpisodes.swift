struct OpenEpisodes: Sendable {
  /// What is read through a node. The kernel keeps one size for each node.
  struct Representation: Hashable, Sendable {
    let generation: UInt32
    /// In bytes; nil where the server gives none.
    let size: Int64?
  }
  private struct Node {
    let representation: Representation
    var handles = 0
  }
  private var nodes: [NodeID: Node] = [:]
  /// By episode: what is open, and opens that are not answered yet.
  private var counts: [Int64: Int] = [:]
  private var sentAway: Set<Int64> = []

  /// The generation of the pages that the kernel has of a node.
  private var pages: [NodeID: UInt32] = [:]
  private static let mostPages = 4096

  /// Whether the kernel may keep its pages of a node at an open of this generation.
  func keepsPages(of node: NodeID, _ generation: UInt32) -> Bool { pages[node] == generation }

  /// The kernel has pages of this generation only: it dropped all others when it opened the handle that read them.
  mutating func hasPages(of node: NodeID, _ generation: UInt32) {
    if pages.count >= Self.mostPages { pages = [:] }
    pages[node] = generation
  }

  var count: Int { counts.values.reduce(0, +) }

  func isOpen(_ episode: Int64) -> Bool { counts[episode] != nil }

  /// An open begins, or has succeeded; `release` follows.
  mutating func take(_ episode: Int64) { counts[episode, default: 0] += 1 }

  mutating func release(_ episode: Int64) {
    let left = (counts[episode] ?? 1) - 1
    counts[episode] = left > 0 ? left : nil
  }

  /// The exact size of an open node. Its readers keep it whatever becomes of the episode.
  func size(of node: NodeID) -> Int64? { nodes[node]?.representation.size }

  func isOfUnknownSize(_ node: NodeID) -> Bool { nodes[node].map { $0.representation.size == nil } ?? false }

  /// - Returns: false where others read another representation through the same node: open(2) then looks the name up
  ///   again, once. A second such open succeeds.
  mutating func open(_ node: NodeID, _ representation: Representation) -> Bool {
    if let other = nodes[node], other.representation != representation,
      sentAway.insert(node.row).inserted
    {
      return false
    }
    sentAway.remove(node.row)
    nodes[node, default: Node(representation: representation)].handles += 1
    counts[node.row, default: 0] += 1
    return true
  }

  mutating func close(_ node: NodeID) {
    nodes[node]?.handles -= 1
    if let handles = nodes[node]?.handles, handles <= 0 { nodes[node] = nil }
    release(node.row)
  }
}
