internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Tells the transfers of episodes that a backup keeps: when they have come with their feed, or were imported.
final class KeepOrders: Sendable {
  private let catalog: Catalog
  private let transfers: any TransferService
  private let request: @Sendable (EpisodeEntry) -> TransferRequest
  private let queue = WorkQueue(name: "keep-orders", courtesy: 5)

  init(
    _ catalog: Catalog, _ transfers: any TransferService,
    request: @escaping @Sendable (EpisodeEntry) -> TransferRequest
  ) {
    self.catalog = catalog
    self.transfers = transfers
    self.request = request
  }

  func begin() {
    catalog.observeChanges { [weak self] change in
      switch change {
      case .newEpisodes, .episode, .podcast, .subscription, .everything: self?.look()
      default: break
      }
    }
    look()
  }

  func stop() { queue.stop() }

  private func look() {
    queue.async { [self] in
      // Where the catalogue cannot be read, the next change is waited for.
      for entry in (try? catalog.keepOrders()) ?? [] {
        let key = entry.episode.mediaKey
        transfers.order(.setKept(request(entry), true)) { [self] failure in
          if failure == nil { queue.async { [self] in try? catalog.removeKeepOrder(key) } }
        }
      }
    }
  }
}
