internal import Glibc
internal import PodcastModel

/// What stat(2) shows of a node, and how long the kernel may believe it.
package struct NodeAttributes: Hashable, Sendable {
  package var node: NodeID
  package var permissions: UInt32
  package var links: UInt32 = 1
  /// In bytes.
  package var size: Int64
  /// In bytes: what of it is on this machine's disk.
  package var stored: Int64
  package var modified: FileTime
  package var timeout = NodeAttributes.lifetime

  /// Seconds that the kernel keeps what it is shown, so that a change by whomever is seen within that time.
  package static let lifetime = 1.0

  package init(node: NodeID, permissions: UInt32, size: Int64 = 0, modified: FileTime = FileTime(0)) {
    (self.node, self.permissions, self.modified) = (node, permissions, modified)
    self.size = node.isDirectory ? 4096 : size
    stored = self.size
  }

  package var isDirectory: Bool { node.isDirectory }

  /// st_blocks: never 0 for a file with a size, because `tar -S` takes such files for zeros.
  package var blocks: Int64 { isDirectory || size == 0 ? 0 : max(1, (stored + 511) / 512) }
}

package typealias DirectoryItem = (name: String, attributes: NodeAttributes)

package struct FileTime: Hashable, Comparable, Sendable {
  /// Since 1970.
  package var seconds: Int64
  package var nanoseconds: Int32

  package init(_ seconds: Int64, nanoseconds: Int32 = 0) {
    (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
  }

  /// - Parameter nanoseconds: since 1970.
  init(sinceEpoch nanoseconds: Int64) {
    self.init(nanoseconds / 1_000_000_000, nanoseconds: Int32(max(0, nanoseconds % 1_000_000_000)))
  }

  package var sinceEpoch: Int64 { seconds &* 1_000_000_000 &+ Int64(nanoseconds) }

  package static var now: FileTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTime(Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
  }

  package static func < (a: FileTime, b: FileTime) -> Bool {
    (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
  }
}

/// Extended attributes in the order they are listed; together under 3 KiB, so that copies to ext4 keep them.
struct AttributeList: Sendable {
  private(set) var items: [(name: String, value: String)] = []
  static let prefix = "user.podcastfs."
  /// Of all names and values together, in bytes.
  private static let limit = 3072 - 64
  /// Of one text, in bytes.
  private static let longest = 800
  mutating func add(_ name: String, _ value: String?) { add(plain: Self.prefix + name, value) }

  mutating func add(plain name: String, _ value: String?) {
    guard let value, !value.isEmpty else { return }
    items.append((name, value.cut(toBytes: Self.longest)))
  }

  mutating func add(_ other: AttributeList) { items += other.items }
  private var size: Int { items.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 2 } }
  func hasRoom(for bytes: Int) -> Bool { size + bytes <= Self.limit }

  /// With long texts cut until all of it is under the limit.
  func bounded() -> AttributeList {
    var list = self
    var longest = Self.longest
    while list.size > Self.limit, longest > 16 {
      longest = longest * 7 / 8
      list.items = list.items.map { ($0.name, $0.value.cut(toBytes: longest)) }
    }
    return list
  }

  func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
}

extension String {
  /// Its beginning, at most `limit` bytes, between characters.
  func cut(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = startIndex
    var used = 0
    for index in indices {
      used += self[index].utf8.count
      if used > limit { break }
      end = self.index(after: index)
    }
    return String(self[..<end])
  }
}
