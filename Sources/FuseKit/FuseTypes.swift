/// Attributes of a node, as stat(2) shows them.
package struct FuseAttributes: Sendable {
  package enum Kind: Sendable { case file, directory }
  package var kind: Kind
  /// st_ino.
  package var inode: UInt64
  /// Permission bits, without the type.
  package var permissions: UInt32
  package var links: UInt32 = 1
  package var owner: UInt32
  package var group: UInt32
  /// In bytes.
  package var size: Int64 = 0
  /// In units of 512 bytes.
  package var blocks: Int64 = 0
  /// Seconds since 1970, and nanoseconds on top of them.
  package var modified: (seconds: Int64, nanoseconds: Int32) = (0, 0)
  package var changed: (seconds: Int64, nanoseconds: Int32) = (0, 0)

  package init(kind: Kind, inode: UInt64, permissions: UInt32, owner: UInt32, group: UInt32) {
    self.kind = kind
    self.inode = inode
    self.permissions = permissions
    self.owner = owner
    self.group = group
  }
}

/// A name's node, for lookups.
package struct FuseEntry: Sendable {
  /// What the kernel keys its caches by.
  package var node: UInt64
  /// Another one is another file under the same number.
  package var generation: UInt64 = 0
  package var attributes: FuseAttributes
  /// How long the kernel may answer from its caches, in seconds.
  package var attributeTimeout: Double
  package var entryTimeout: Double

  package init(node: UInt64, attributes: FuseAttributes, attributeTimeout: Double, entryTimeout: Double) {
    self.node = node
    self.attributes = attributes
    self.attributeTimeout = attributeTimeout
    self.entryTimeout = entryTimeout
  }
}

/// Who asks: the kernel's words.
package struct FuseCaller: Sendable {
  package var user: UInt32
  package var group: UInt32
  /// A thread's number, not a process's; 0 for the kernel itself or another pid namespace.
  package var thread: Int32
  /// The kernel's number of the request.
  package var request: UInt64 = 0
  /// Whether a process that served before had the request already, and may have done what it asks for.
  package var isRepeated = false
}

/// How an open file is to be treated by the kernel.
package struct FuseOpenOptions: Sendable {
  /// Our number for it.
  package var handle: UInt64
  /// Reads come to us as they are, past the page cache and the size.
  package var isDirect = false
  /// Pages cached by an earlier open are still good.
  package var keepsCache = false
  /// Reads have no position (streams).
  package var isStream = false
  /// The listing may be cached (directories).
  package var cachesListing = false
  /// Don't send a flush at close(2).
  package var skipsFlush = false

  package init(handle: UInt64) { self.handle = handle }
}

/// What setattr(2)-like calls want changed.
package struct FuseChanges: OptionSet, Sendable {
  package let rawValue: Int32
  package init(rawValue: Int32) { self.rawValue = rawValue }
  package static let mode = FuseChanges(rawValue: 1 << 0)
  package static let owner = FuseChanges(rawValue: 1 << 1)
  package static let group = FuseChanges(rawValue: 1 << 2)
  package static let size = FuseChanges(rawValue: 1 << 3)
  package static let times: FuseChanges = FuseChanges(rawValue: 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 10)
}

/// How a file is read.
package struct FuseReadOptions: Sendable {
  /// The program opened the file with O_NONBLOCK (open(2)): a read must not wait for bytes.
  package let isNonblocking: Bool
  /// Whether it is a program's read(2) as it stands. Else the kernel fills its pages, and takes an answer that is short
  /// for the file's end.
  ///
  /// The kernel names the lock's owner in the first case only (FUSE_READ_LOCKOWNER), as one of 2^64 numbers that is
  /// never 0 but by chance.
  package let isCall: Bool
}
