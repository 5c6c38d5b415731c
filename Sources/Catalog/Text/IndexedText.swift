internal import PodcastModel

/// What of an episode is in the full-text index.
struct IndexedText: Sendable {
  var title: String
  var notes: String?

  /// Costs much more than writing it: made before a transaction begins.
  init(title: String, notes: String?) {
    self.title = SearchText.indexed(TitleText.plain(title))
    self.notes = notes.map(SearchText.indexed)
  }
}
