internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PodcastTree
internal import TransferProtocol

/// Facts of the catalogue for downloads: the size that the feed gives, and the name of the podcast's folder.
struct KnownPodcasts {
  private struct Facts {
    var length: Int64?
    var folder: String?
  }

  private let catalogue: String
  private var known: [MediaKey: Facts] = [:]

  init(in places: Places) { catalogue = "\(places.data)/catalog.sqlite" }

  /// Reads from the catalogue the episodes of downloads that this value does not know yet.
  /// - Returns: the transfers with the sizes that their episodes' attributes have.
  mutating func complete(_ statuses: [TransferStatus]) -> [TransferStatus] {
    let wanted = statuses.filter { $0.state != .remote && $0.state != .cached && known[$0.key] == nil }.map(
      \.key)
    for key in wanted { known[key] = Facts() }
    let entries = KnownEntries.all(forKeys: wanted, inFile: catalogue)
    let folders = KnownEntries.folderNames(ofPodcasts: Set(entries.map(\.podcast.id)), inFile: catalogue)
    // Of several episodes with one enclosure the first counts.
    for entry in entries.reversed() {
      known[entry.episode.mediaKey] = Facts(
        length: EpisodeSize.plausibleLength(of: entry.episode), folder: folders[entry.podcast.id])
    }
    return statuses.map { $0.withLength(ofFeed: known[$0.key]?.length) }
  }

  /// The name of the podcast's folder; its title where the catalogue does not know it.
  func folder(of status: TransferStatus) -> String { known[status.key]?.folder ?? status.show }
}
