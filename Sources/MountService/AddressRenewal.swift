internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferClient

/// Finds the new address of a download whose signed address has expired: the feed has it. SQLite's calls are not for the
/// transfers' thread.
final class AddressRenewal: Sendable {
  private let catalog: Catalog
  private let transfers: TransferClient
  private let queue = WorkQueue(name: "renewal")
  /// Podcasts whose feed was fetched and had no other address, and until when that holds.
  private let fruitless = Monitor<[Int64: MonotonicTime]>([:])
  /// Seconds: a hundred dead links of one feed are no reason to fetch it a hundred times. Less than the ten after
  /// which an open tries a failed one again.
  private static let rest = 9.0
  init(catalog: Catalog, transfers: TransferClient) { (self.catalog, self.transfers) = (catalog, transfers) }

  func begin() {
    transfers.setAddressHandler { [self] key, expired in queue.async { [self] in renew(key, expired) } }
  }

  private func renew(_ key: MediaKey, _ expired: String) {
    guard let entry = entry(key) else { return transfers.freshAddress(key, nil) }
    let known = entry.enclosureAddress.forRequest
    if known != expired { return transfers.freshAddress(key, known) }
    let podcast = entry.podcast.id
    let isFruitless = fruitless.withLock { known in
      known = known.filter { $0.value > .now }
      return known[podcast] != nil
    }
    if isFruitless { return transfers.freshAddress(key, nil) }
    // Calls during a refresh share its request.
    _ = catalog.refresh(podcast: podcast, cause: .forced) { [self] _ in
      queue.async { [self] in
        let now = self.entry(key)?.enclosureAddress.forRequest
        if now == expired { fruitless.withLock { $0[podcast] = .after(Self.rest) } }
        transfers.freshAddress(key, now == expired ? nil : now)
      }
    }
  }

  private func entry(_ key: MediaKey) -> EpisodeEntry? { (try? catalog.entries(forKeys: [key]))?[key] }
}
