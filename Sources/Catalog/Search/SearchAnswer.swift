internal import PodcastModel

/// What one service answered.
struct SearchAnswer: Hashable, Sendable {
  var source: String
  var found: [FoundPodcast]
  /// Whether the feeds it names may be on private hosts: it is on one itself.
  var mayBePrivate = false

  /// The answers as one: the best of each first, a feed that several name once, with what each says of it.
  /// - Parameter limit: the most podcasts.
  static func merged(_ answers: [SearchAnswer], limit: Int) -> [(podcast: FoundPodcast, mayBePrivate: Bool)] {
    var merged: [(podcast: FoundPodcast, mayBePrivate: Bool)] = []
    var places: [String: Int] = [:]
    for rank in 0..<(answers.map(\.found.count).max() ?? 0) {
      for answer in answers where rank < answer.found.count {
        let podcast = answer.found[rank]
        let key = FeedKey.text(podcast.feedURL)
        if let place = places[key] {
          merged[place].podcast.complete(with: podcast)
          merged[place].mayBePrivate = merged[place].mayBePrivate || answer.mayBePrivate
        } else {
          places[key] = merged.count
          merged.append((podcast, answer.mayBePrivate))
        }
      }
    }
    return Array(merged.prefix(limit))
  }

  /// The services that answered: "apple+fyyd".
  static func source(_ answers: [SearchAnswer]) -> String {
    answers.map(\.source).joined(separator: "+")
  }
}

// As the catalogue keeps it.
extension SearchAnswer {
  var json: JSONValue {
    .object([
      ("source", .string(source)), ("private", .bool(mayBePrivate)), ("found", .array(found.map(\.json))),
    ])
  }

  init?(json: JSONValue) {
    guard let source = json["source"]?.text, let found = json["found"]?.elements else { return nil }
    self.init(
      source: source, found: found.compactMap(FoundPodcast.init(json:)),
      mayBePrivate: json["private"]?.flag ?? false)
  }
}
