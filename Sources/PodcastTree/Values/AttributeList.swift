internal import PodcastModel

/// Extended attributes in the order they are listed; together under 3 KiB, so that copies to ext4 keep them.
struct AttributeList: Sendable {
  private(set) var items: [(name: String, value: String)] = []
  static let prefix = "user.podcastfs."
  /// Of all names and values together, in bytes.
  private static let limit = 3072 - 64
  /// Of one text, in bytes.
  private static let longest = 800

  /// Adds `user.podcastfs.NAME`; nothing where there is no value.
  mutating func add(_ name: String, _ value: String?) { add(plain: Self.prefix + name, value) }

  mutating func add(plain name: String, _ value: String?) {
    guard let value, !value.isEmpty else { return }
    items.append((name, value.cut(toBytes: Self.longest)))
  }

  mutating func add(_ other: AttributeList) { items += other.items }

  /// In bytes, of all names and values with what lies between them.
  private var size: Int { items.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 2 } }

  /// Whether there is room for `bytes` more before anything is cut.
  func hasRoom(for bytes: Int) -> Bool { size + bytes <= Self.limit }

  /// With the longest texts cut until all of it is under the limit.
  func bounded() -> AttributeList {
    var total = size
    if total <= Self.limit { return self }
    var list = self
    while total > Self.limit,
      let longest = list.items.indices.max(by: {
        list.items[$0].value.utf8.count < list.items[$1].value.utf8.count
      })
    {
      let size = list.items[longest].value.utf8.count
      let target = max(size - (total - Self.limit), size * 3 / 4)
      list.items[longest].value = list.items[longest].value.cut(toBytes: target)
      total -= size - list.items[longest].value.utf8.count
      if size < 16 { break }
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
