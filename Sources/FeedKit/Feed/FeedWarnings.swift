/// What a reader of `podcastfs feed` should know, each once, with how often it was.
struct FeedWarnings {
  private static let most = 50

  private var counts: [(text: String, count: Int)] = []

  mutating func add(_ text: String) {
    if let index = counts.firstIndex(where: { $0.text == text }) {
      counts[index].count += 1
    } else if counts.count < Self.most {
      counts.append((text, 1))
    }
  }

  var lines: [String] { counts.map { $0.count == 1 ? $0.text : "\($0.text) (\($0.count) times)" } }
}
