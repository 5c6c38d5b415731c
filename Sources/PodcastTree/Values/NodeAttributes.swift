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
  package var modified = FileTime(0)
  package var changed = FileTime(0)
  /// How long the kernel may believe all this, in seconds.
  package var timeout = NodeAttributes.lifetime

  /// Seconds that the kernel keeps what it is shown, so that a change by whomever is seen within that time.
  package static let lifetime = 1.0

  package init(node: NodeID, isDirectory: Bool, permissions: UInt32) {
    self.node = node
    self.isDirectory = isDirectory
    self.permissions = permissions
  }

  /// Of a file that is wholly here.
  mutating func setSize(_ size: Int64) {
    self.size = size
    stored = size
  }

  /// st_blocks: never 0 for a file with a size, because `tar -S` takes such files for zeros.
  package var blocks: Int64 {
    isDirectory || size == 0 ? 0 : max(1, (stored + 511) / 512)
  }
}

/// A name in a directory, with what stat(2) shows of it.
package struct DirectoryItem: Hashable, Sendable {
  package var name: String
  package var attributes: NodeAttributes

  package init(name: String, attributes: NodeAttributes) {
    self.name = name
    self.attributes = attributes
  }
}
