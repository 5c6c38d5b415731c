/// What one process tells the others of a commit: a datagram of a few lines of text.
struct ChangeMessage: Hashable, Sendable {
  /// The number of the commit, one more than that of the commit before.
  var commit: Int64
  var changes: [CatalogChange]

  /// More changes than these are sent as `everything`.
  private static let limit = 32
  static let maximumBytes = 4096

  init(commit: Int64, changes: [CatalogChange]) {
    self.commit = commit
    self.changes = changes.count > Self.limit ? [.everything] : changes
  }

  /// - Returns: nil for what no version of this program sends.
  init?(_ bytes: some Sequence<UInt8>) {
    let lines = String(decoding: Array(bytes), as: UTF8.self).split(separator: "\n")
    guard let first = lines.first?.split(separator: " "), first.count == 2, first[0] == Self.word,
      let commit = Int64(first[1])
    else { return nil }
    self.commit = commit
    // A kind that a later version may send is looked at as if all had changed.
    changes = lines.dropFirst().map { Self.change($0) ?? .everything }
  }

  var bytes: [UInt8] {
    Array(([("\(Self.word) \(commit)")] + changes.map(Self.text)).joined(separator: "\n").utf8)
  }

  private static let word = "podcastfs-catalog-1"

  private static func text(_ change: CatalogChange) -> String {
    switch change {
    case .searches: "searches"
    case .results(let search): "results \(search)"
    case .podcast(let id): "podcast \(id)"
    case .refreshed(let id, let count): "refreshed \(id) \(count)"
    case .subscriptions: "subscriptions"
    case .episode(let id): "episode \(id)"
    case .everything: "everything"
    }
  }

  private static func change(_ line: Substring) -> CatalogChange? {
    let words = line.split(separator: " ")
    if words.count == 3, words[0] == "refreshed", let id = Int64(words[1]), let count = Int(words[2]) {
      return .refreshed(podcast: id, newEpisodes: count)
    }
    let id = words.count == 2 ? Int64(words[1]) : nil
    return switch (words.first, id) {
    case ("searches", nil): .searches
    case ("results", let id?): .results(search: id)
    case ("podcast", let id?): .podcast(id)
    case ("subscriptions", nil): .subscriptions
    case ("episode", let id?): .episode(id)
    case ("everything", nil): .everything
    default: nil
    }
  }
}
