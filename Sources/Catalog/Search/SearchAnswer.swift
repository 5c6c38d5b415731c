internal import PodcastModel

/// What one service answered.
struct SearchAnswer: Hashable, Sendable {
  var source: String
  var found: [FoundPodcast]
  /// Whether the feeds it names may be on private hosts: it is on one itself.
  var mayBePrivate = false
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
