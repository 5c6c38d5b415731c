/// Warnings for a reader of `podcastfs feed`, each once, with how often it was.
struct FeedWarnings {
  private let most: Int
  private var counts: [(text: String, count: Int)] = []
  private var places: [String: Int] = [:]

  init(most: Int = 50) { self.most = most }

  mutating func add(_ text: String) {
    if let place = places[text] {
      counts[place].count += 1
    } else if counts.count < most {
      places[text] = counts.count
      counts.append((text, 1))
    }
  }

  var count: Int { counts.count }

  var lines: [String] { counts.map { $0.count == 1 ? $0.text : "\($0.text) (\($0.count) times)" } }
}

/// The best of the values that several elements give for the same thing, whatever their order: the one of the highest
/// rank, of equal ranks the first.
struct Ranked<Value> {
  private(set) var value: Value?
  private(set) var rank = 0

  mutating func offer(_ other: Value?, rank: Int) {
    guard rank > self.rank, let other else { return }
    (value, self.rank) = (other, rank)
  }
}
