internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PodcastTree
internal import TransferProtocol

/// The sizes that feeds give, for downloads of which no server has told one yet.
struct FeedLengths {
  private let catalogue: String
  /// What was looked for; nil where the feed gives none.
  private var known: [MediaKey: Int64?] = [:]

  init(in places: Places) { catalogue = "\(places.data)/catalog.sqlite" }

  /// The transfers with the sizes that their episodes' attributes have.
  mutating func complete(_ statuses: [TransferStatus]) -> [TransferStatus] {
    let wanted = statuses.filter { $0.total == nil && $0.state != .remote && known[$0.key] == nil }.map(\.key)
    for key in wanted { known[key] = .some(nil) }
    var isFound: Set<MediaKey> = []
    for entry in KnownEntries.all(forKeys: wanted, inFile: catalogue)
    where isFound.insert(entry.episode.mediaKey).inserted {
      known[entry.episode.mediaKey] = .some(EpisodeSize.plausibleLength(of: entry.episode.summary))
    }
    return statuses.map { $0.withLength(ofFeed: known[$0.key] ?? nil) }
  }
}
