/// The exact size of an open node, in bytes, and how many have it open.
struct OpenSize: Hashable, Sendable {
  let bytes: Int64
  var handles = 0
}

extension [NodeID: OpenSize] {
  /// One of them has closed it.
  mutating func close(_ node: NodeID) {
    self[node]?.handles -= 1
    if let size = self[node], size.handles <= 0 { self[node] = nil }
  }
}
