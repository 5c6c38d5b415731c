internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferClient

/// Finds the new address of a download whose signed address has expired: the feed has it.
struct AddressRenewal: Sendable {
  let catalog: Catalog
  let transfers: TransferClient
  /// SQLite's calls are not for the transfers' thread.
  private let queue = WorkQueue(name: "renewal")
  /// Podcasts whose feed was fetched and had no other address, and until when that holds.
  private let fruitless = Monitor<[Int64: MonotonicTime]>([:])
  /// Seconds: a hundred dead links of one feed are no reason to fetch it a hundred times. Less than the ten after
  /// which an open tries a failed one again.
  private static let rest = 9.0

  func begin() {
    transfers.setAddressHandler { key, expired in
      queue.async { renew(key, expired) }
    }
  }

  private func renew(_ key: MediaKey, _ expired: String) {
    guard let entry = entry(key) else { return transfers.freshAddress(key, nil) }
    let known = entry.enclosureAddress.forRequest
    if known != expired { return transfers.freshAddress(key, known) }
    let podcast = entry.podcast.id
    if isFruitless(podcast) { return transfers.freshAddress(key, nil) }
    // Calls during a refresh share its request.
    catalog.refresh(podcast: podcast, cause: .forced) { _ in
      queue.async {
        let now = self.entry(key)?.enclosureAddress.forRequest
        if now == expired { fruitless.withLock { $0[podcast] = .after(Self.rest) } }
        transfers.freshAddress(key, now == expired ? nil : now)
      }
    }
  }

  private func isFruitless(_ podcast: Int64) -> Bool {
    fruitless.withLock { fruitless in
      let now = MonotonicTime.now
      fruitless = fruitless.filter { $0.value > now }
      return fruitless[podcast] != nil
    }
  }

  private func entry(_ key: MediaKey) -> EpisodeEntry? {
    (try? catalog.entries(forKeys: [key]))?[key]
  }
}
