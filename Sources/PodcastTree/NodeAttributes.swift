/// What stat(2) shows of a node, and how long the kernel may believe it.
package struct NodeAttributes: Hashable, Sendable {
  package var node: NodeID
  package var isDirectory: Bool
  package var permissions: UInt32
  package var links: UInt32 = 1
  /// In bytes.
  package var size: Int64 = 0
  /// In bytes: what of it is on this machine's disk.
  package var stored: Int64 = 0
  /// Seconds since 1970.
  package var modified: Int64 = 0
  package var changed: Int64 = 0
  /// Seconds.
  package var timeout: Double = 3600

  package init(node: NodeID, isDirectory: Bool, permissions: UInt32) {
    self.node = node
    self.isDirectory = isDirectory
    self.permissions = permissions
  }

  /// st_blocks: never 0 for a file with a size, because `tar -S` takes such files for zeros.
  package var blocks: Int64 {
    isDirectory || size == 0 ? 0 : max(1, (stored + 511) / 512)
  }
}

/// A name in a directory.
package struct DirectoryItem: Hashable, Sendable {
  package var name: String
  package var attributes: NodeAttributes

  package init(name: String, attributes: NodeAttributes) {
    self.name = name
    self.attributes = attributes
  }
}

/// A directory as it was when it was opened: what a listing that is under way shows.
package final class DirectorySnapshot: Sendable {
  package let node: NodeID
  package let items: [DirectoryItem]
  /// Whether the kernel may keep the listing: not where it was answered without a fetch that is still due.
  package let isCacheable: Bool

  init(node: NodeID, items: [DirectoryItem], isCacheable: Bool = true) {
    self.node = node
    self.items = items
    self.isCacheable = isCacheable
  }
}
