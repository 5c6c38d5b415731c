internal import PodcastModel

/// The episodes of a feed that has come for the first time and that somebody waits for, as they were written: who lists
/// them in the next moment need not have them read back.
struct FreshEpisodes: Sendable {
  struct One: Sendable {
    var id: Int64
    var item: IncomingEpisode
    var stem: String
    var fileExtension: String
    var key: MediaKey
  }

  let podcast: Int64
  /// When what has no date counts as published.
  let now: Int64
  /// In the order of their numbers: all that the podcast has.
  var all: [One] = []
  /// They are so as of this commit; of another nothing is known.
  var commit: Int64?

  func summaries<Made>(as make: (EpisodeSummary) -> Made) -> [Made] {
    all.map {
      make(
        $0.item.summary(
          id: $0.id, podcast: podcast, key: $0.key, stem: $0.stem, fileExtension: $0.fileExtension,
          firstSeen: now))
    }
  }
}
