internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferClient

/// Finds a fresh address for a download whose address has expired: signed addresses do, and the feed has the
/// new one.
struct AddressRenewal: Sendable {
  let catalog: Catalog
  let transfers: TransferClient
  /// SQLite's calls are not for the transfers' thread.
  private let queue = WorkQueue(name: "renewal")

  /// Answers the daemon whenever it asks.
  func begin() {
    transfers.setAddressHandler { key, expired in
      queue.async { renew(key, expired) }
    }
  }

  private func renew(_ key: MediaKey, _ expired: String) {
    guard let episode = episode(key) else { return transfers.freshAddress(key, nil) }
    if episode.enclosureURL != expired { return transfers.freshAddress(key, episode.enclosureURL) }
    catalog.refresh(podcast: episode.podcastID, cause: .forced) { _ in
      queue.async {
        let now = self.episode(key)?.enclosureURL
        transfers.freshAddress(key, now == expired ? nil : now)
      }
    }
  }

  private func episode(_ key: MediaKey) -> Episode? {
    (try? catalog.entries(forKeys: [key]))?[key]?.episode
  }
}
