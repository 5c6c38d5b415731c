internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What a refresh has to know of a podcast: its feed, and what it is compared with.
@dynamicMemberLookup
struct FeedState: Sendable {
  var feed: FeedRecord
  var archive: ArchiveRecord
  var podcast: PodcastRecord
  /// Of its address, then of those that it has moved away from (`FeedKey`).
  var keys: [String]
  /// An unchanged answer is not believed this time: some servers go on saying 304 after a change.
  var isDoubtful = false

  var id: Int64 { feed.podcast }
  var title: String { podcast.title }
  var hasTitle: Bool { podcast.hasTitle }
  var guid: String? { podcast.guid }

  subscript<Value>(dynamicMember fact: KeyPath<FeedRecord, Value>) -> Value { feed[keyPath: fact] }

  /// - Parameter now: when the feed is asked for, in seconds since 1970; nil where it is not.
  init?(podcast id: Int64, askedAt now: Int64? = nil, in database: Database) throws {
    guard let feed = try FeedRecord.load(id, in: database),
      let podcast = try PodcastRecord.load(id, in: database)
    else { return nil }
    self.feed = feed
    self.podcast = podcast
    archive = try ArchiveRecord.load(id, in: database)
    keys = try FormerAddresses.keys(of: id, in: database)
    if let now, let lastWhole = feed.lastWhole, lastWhole <= now {
      isDoubtful = try feed.rhythm(in: database).isDoubtful(now: now, lastWhole: lastWhole)
    }
  }
}

extension FeedRecord {
  /// What is known of how often the feed brings something.
  func rhythm(in database: Database) throws -> FeedRhythm {
    FeedRhythm(
      published: try EpisodeRow.times(ofPodcast: podcast, limit: FeedRhythm.memory, in: database),
      firstRead: firstRefresh ?? .max, isComplete: isComplete)
  }
}
