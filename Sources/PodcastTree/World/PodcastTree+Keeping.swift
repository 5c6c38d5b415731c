internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// A feed's setting `keep`: its newest episodes are downloaded before anybody opens them, and dropped when
/// newer ones have taken their place. What was downloaded for another reason, is open or has the attribute
/// `keep` stays.
extension PodcastTree {
  /// On the loader's thread.
  func keepEpisodes(ofPodcast id: Int64) throws {
    let plan = try catalog.keepPlan(podcast: id)
    if plan.wanted.isEmpty && plan.released.isEmpty { return }
    guard let podcast = try catalog.podcast(id) else { return }
    for episode in plan.wanted {
      // One that is here or on its way has another reason to be.
      if Downloads.view(world.withLock { $0.downloads.status(episode.mediaKey) }) == .none {
        transfers.start(request(for: EpisodeEntry(episode: episode, podcast: podcast))) { [self] failure in
          // A failed order is repeated at the next refresh.
          if failure == nil { loader.async { try? self.catalog.markKept(episode: episode.id) } }
        }
      }
    }
    for episode in plan.released {
      let isInUse = world.withLock { world in
        world.open.isOpen(episode.id) || world.downloads.status(episode.mediaKey)?.isKept ?? false
      }
      if !isInUse { transfers.drop(episode.mediaKey) { _ in } }
      try catalog.unmarkKept(episode: episode.id)
    }
  }
}
