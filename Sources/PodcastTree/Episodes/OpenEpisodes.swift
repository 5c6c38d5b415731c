internal import PosixKit
internal import TransferProtocol

struct OpenEpisodes: Sendable {
  /// What is read through a node. The kernel keeps one size for each node.
  struct Representation: Hashable, Sendable {
    let generation: UInt32
    /// In bytes; nil where the server gives none.
    let size: Int64?
  }
  private struct Node {
    /// Nil before an open of it has succeeded.
    var representation: Representation?
    /// The handles that are open, and the opens that are not answered yet.
    var handles = 0
  }
  private var nodes: [NodeID: Node] = [:]
  /// By open episode: the threads whose last open of it was to look its name up again.
  private var sentAway: [Int64: Set<Int32>] = [:]

  /// The generation of the pages that the kernel has of a node. A node's number holds only a part of it.
  private var pages: [NodeID: UInt32] = [:]
  private static let mostPages = 4096

  func keepsPages(of node: NodeID, _ generation: UInt32) -> Bool { pages[node] == generation }

  /// The kernel has pages of this generation only: it dropped all others when it opened the handle that now reads.
  mutating func hasPages(of node: NodeID, _ generation: UInt32) {
    if pages.count >= Self.mostPages { pages = [:] }
    pages[node] = generation
  }

  var count: Int { nodes.values.reduce(0) { $0 + $1.handles } }
  func isOpen(_ episode: Int64) -> Bool { nodes.keys.contains { $0.row == episode } }

  /// The exact size of an open node. Its readers keep it whatever becomes of the episode.
  func size(of node: NodeID) -> Int64? { nodes[node]?.representation?.size }
  func isOfUnknownSize(_ node: NodeID) -> Bool { nodes[node]?.representation.map { $0.size == nil } ?? false }

  /// An open begins; `close` follows, also where it fails.
  mutating func begin(_ node: NodeID) { nodes[node, default: Node()].handles += 1 }

  /// An open succeeds.
  /// - Returns: false where others read another representation through the same node: open(2) then looks the name up
  ///   again, once. The thread's second such open succeeds, whatever other threads open meanwhile.
  mutating func settle(_ node: NodeID, _ representation: Representation, forThread thread: Int32) -> Bool {
    if let other = nodes[node]?.representation, other != representation,
      sentAway[node.row, default: []].insert(thread).inserted
    {
      return false
    }
    sentAway[node.row]?.remove(thread)
    if nodes[node]?.representation == nil { nodes[node]?.representation = representation }
    return true
  }

  mutating func close(_ node: NodeID) {
    nodes[node]?.handles -= 1
    if nodes[node]?.handles == 0 { nodes[node] = nil }
    if sentAway[node.row] != nil, !isOpen(node.row) { sentAway[node.row] = nil }
  }
}

final class EpisodeFile: OpenFile {
  enum Way: Hashable, Sendable {
    case pages
    /// Direct I/O. The kernel's page cache would end reads at st_size.
    case direct
    /// Direct I/O, and a read may return fewer bytes than it asks for. The kernel's page cache would wait for whole blocks.
    case parts
    /// As `direct`; a first read of the beginning alone looks for the file's type, and nothing is fetched for it.
    case look
  }
  private let episode: any OpenEpisode
  private let way: Way
  let keepsCache: Bool
  let changesAttributes: Bool
  private let onFirstRead: @Sendable () -> Void
  private let onRefusal: @Sendable (String) -> Void
  private let onClose: @Sendable (EpisodeFile) -> Void
  /// The size that was shown where the server gives none; nil where it is exact.
  private let shownSize: Int64?
  private struct Progress {
    var isAsked = false
    var furthest: Int64 = 0
    /// How much, in bytes.
    var count: Int64 = 0
  }
  private let progress = Monitor(Progress())

  /// - Parameters:
  ///   - keepsCache: whether the kernel's pages of the node are of this representation.
  ///   - shownSize: see `shownSize`.
  ///   - onRefusal: hears why a read fails that waits for nothing.
  init(
    _ episode: any OpenEpisode, _ way: Way, keepsCache: Bool, changesAttributes: Bool, shownSize: Int64?,
    onFirstRead: @escaping @Sendable () -> Void, onRefusal: @escaping @Sendable (String) -> Void,
    onClose: @escaping @Sendable (EpisodeFile) -> Void
  ) {
    (self.episode, self.way, self.keepsCache) = (episode, way, keepsCache)
    (self.changesAttributes, self.shownSize) = (changesAttributes, shownSize)
    (self.onFirstRead, self.onRefusal, self.onClose) = (onFirstRead, onRefusal, onClose)
  }

  var isDirect: Bool { way != .pages }
  var givesParts: Bool { way == .parts }
  var bytesRead: Int64 { progress.withLock { $0.count } }
  var size: Int64? { episode.size }
  var generation: UInt32 { episode.generation }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    let count = episode.readCached(at: offset, into: buffer)
    if way == .look, count == nil, offset == 0, buffer.count <= Program.typeLength, bytesRead == 0 {
      onRefusal("not in the cache, and a look for the file's type fetches nothing")
      return .failure(.EIO)
    }
    return answer(at: offset, count)
  }

  func readPart(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    let count = episode.countCached(at: offset, upTo: buffer.count)
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count))
    // At the end of the file no byte is cached, and 0 is the answer.
    return answer(at: offset, episode.readCached(at: offset, into: count > 0 ? part : buffer))
  }

  private func answer(at offset: Int64, _ count: Int?) -> Result<Int, Errno>? {
    // A read proves that the kernel has had the open's answer, and dropped the pages it had before.
    let isFirst = progress.withLock { progress in
      defer { progress.isAsked = true }
      return !progress.isAsked
    }
    if isFirst { onFirstRead() }
    guard let count else {
      if !isMisled(at: offset) { return nil }
      onRefusal("the server tells no length, and the end is not known yet")
      return .failure(.EIO)
    }
    progress.withLock { progress in
      progress.furthest = max(progress.furthest, offset + Int64(count))
      progress.count += Int64(count)
    }
    return .success(count)
  }

  /// Whether a read lies where the file may have no bytes: its server gave no length, so `st_size` is an estimate. `tail`
  /// reads there, and players that look for a tag: they would wait for the whole file.
  private func isMisled(at offset: Int64) -> Bool {
    // A generation of 0 means that no response has come. The server may still give a length: the read waits.
    guard let shownSize, episode.generation > 0, episode.size == nil else { return false }
    return offset >= shownSize - 1 << 20 && offset > progress.withLock { $0.furthest } + 4 << 20
  }

  func whenReadable(at offset: Int64, count: Int) -> Answer<Void> {
    .task { [episode] completion in
      episode.whenAvailable(at: offset, count: count) { completion($0.map { .failure($0) } ?? .success(())) }
    }
  }

  func close() {
    episode.close()
    onClose(self)
  }
}
