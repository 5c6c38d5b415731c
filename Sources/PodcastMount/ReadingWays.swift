internal import PodcastTree

/// In which way the kernel reads what is open of each node: it takes one way for all that is open of a node at once, and
/// fails an open that is answered with another.
///
/// A way counts before the open is answered and until its release has come: the kernel has begun it later and ended it
/// earlier.
struct ReadingWays {
  enum Way: Equatable {
    /// Through the pages that the kernel keeps of the node.
    case pages
    /// Read by read, past those: goes along with them.
    case direct
    /// From the file of that number (`FuseSession.back`), past us.
    case backed(Int32)
  }
  private struct Node {
    var pages = 0
    var backed = 0
    var file: Int32 = 0
  }
  private var nodes: [NodeID: Node] = [:]

  /// - Parameter back: lends its file to the kernel; nil where there is none, or the kernel takes it not.
  mutating func open(_ node: NodeID, isDirect: Bool, back: () -> Int32?) -> Way {
    var ways = nodes[node] ?? Node()
    defer { nodes[node] = ways.pages + ways.backed > 0 ? ways : nil }
    if ways.backed > 0 {
      ways.backed += 1
      return .backed(ways.file)
    }
    if isDirect { return .direct }
    if ways.pages == 0, let file = back() {
      (ways.backed, ways.file) = (1, file)
      return .backed(file)
    }
    ways.pages += 1
    return .pages
  }

  /// What a process before has opened so.
  mutating func inherit(_ node: NodeID, _ way: Way) {
    switch way {
    case .direct: break
    case .pages: nodes[node, default: Node()].pages += 1
    case .backed(let file):
      nodes[node, default: Node()].backed += 1
      nodes[node]?.file = file
    }
  }

  /// - Returns: the file that is lent for nothing from here on.
  mutating func close(_ node: NodeID, _ way: Way) -> Int32? {
    guard var ways = nodes[node] else { return nil }
    defer { nodes[node] = ways.pages + ways.backed > 0 ? ways : nil }
    switch way {
    case .direct: return nil
    case .pages:
      ways.pages -= 1
      return nil
    case .backed(let file):
      ways.backed -= 1
      return ways.backed == 0 ? file : nil
    }
  }
}
