/// Names that have just gone, each remembered for one to two lifetimes.
struct Departed: Sendable {
  /// In seconds.
  static let lifetime = 10.0
  private var young: [NodeID: [String: Target]] = [:]
  private var old: [NodeID: [String: Target]] = [:]

  var isEmpty: Bool { young.isEmpty && old.isEmpty }

  subscript(name: String, node: NodeID) -> Target? { young[node]?[name] ?? old[node]?[name] }

  mutating func note(_ name: String, _ target: Target, in node: NodeID) {
    young[node, default: [:]][name] = target
  }

  mutating func remove(_ name: String, in node: NodeID) {
    young[node]?[name] = nil
    old[node]?[name] = nil
  }

  mutating func age() {
    old = young
    young = [:]
  }
}
