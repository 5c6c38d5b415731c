extension CatalogChange {
  /// As the log of changes keeps it: a word, then numbers.
  var text: String {
    switch self {
    case .searches: "searches"
    case .search(let id): "search \(id)"
    case .results(let search): "results \(search)"
    case .result(let id, let search): "result \(id) \(search)"
    case .hiddenInSearch(let result, let episode): "hidden \(result) \(episode)"
    case .podcast(let id): "podcast \(id)"
    case .facts(let id): "facts \(id)"
    case .newEpisodes(let id, let first, let last): "new \(id) \(first) \(last)"
    case .refreshed(let id, let count): "refreshed \(id) \(count)"
    case .subscriptions: "subscriptions"
    case .subscription(let id, let podcast): "subscription \(id) \(podcast)"
    case .episode(let id): "episode \(id)"
    case .sidecar(let node): "sidecar \(node)"
    case .everything: "everything"
    }
  }

  /// - Returns: `everything` for what this version does not know or what makes no sense: it comes from a file.
  init(text: some StringProtocol) {
    let words = text.split(separator: " ")
    let numbers = words.dropFirst().compactMap { Int64($0) }.filter { (0...Self.largest).contains($0) }
    guard let kind = words.first, numbers.count == words.count - 1 else {
      self = .everything
      return
    }
    self =
      switch (kind, numbers.count) {
      case ("searches", 0): .searches
      case ("search", 1): .search(numbers[0])
      case ("results", 1): .results(search: numbers[0])
      case ("result", 2): .result(numbers[0], search: numbers[1])
      case ("hidden", 2): .hiddenInSearch(result: numbers[0], episode: numbers[1])
      case ("podcast", 1): .podcast(numbers[0])
      case ("facts", 1): .facts(podcast: numbers[0])
      case ("new", 3) where numbers[1] <= numbers[2]:
        .newEpisodes(podcast: numbers[0], first: numbers[1], last: numbers[2])
      case ("refreshed", 2): .refreshed(podcast: numbers[0], newEpisodes: Int(numbers[1]))
      case ("subscriptions", 0): .subscriptions
      case ("subscription", 2): .subscription(numbers[0], podcast: numbers[1])
      case ("episode", 1): .episode(numbers[0])
      case ("sidecar", 1): .sidecar(numbers[0])
      default: .everything
      }
  }

  /// Numbers above are nobody's: an episode's has 20 bits more than its podcast's.
  private static let largest: Int64 = 1 << 56
}
