/// What the kernel has to forget.
package enum Invalidation: Hashable, Sendable {
  /// A node's attributes.
  case attributes(NodeID)
  /// A directory's cached listing, and its attributes.
  case listing(NodeID)
  /// A name, which now leads elsewhere or nowhere.
  case name(String, in: NodeID)
}
