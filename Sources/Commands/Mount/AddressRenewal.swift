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
    guard let entry = entry(key) else { return transfers.freshAddress(key, nil) }
    if entry.enclosureAddress != expired { return transfers.freshAddress(key, entry.enclosureAddress) }
    catalog.refresh(podcast: entry.podcast.id, cause: .forced) { _ in
      queue.async {
        let now = self.entry(key)?.enclosureAddress
        transfers.freshAddress(key, now == expired ? nil : now)
      }
    }
  }

  private func entry(_ key: MediaKey) -> EpisodeEntry? {
    (try? catalog.entries(forKeys: [key]))?[key]
  }
}
