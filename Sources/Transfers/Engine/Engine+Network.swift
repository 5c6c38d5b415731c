internal import PosixKit
internal import TransferStore

// The network goes and comes.
extension Engine {
  /// Asks again at once where a try was to be made later for want of a network; not where the server has told
  /// a time.
  func networkChanged() {
    hosts.endAll()
    reconsider()
    for download in downloads.busy.values where download.retryAt != nil && !download.isForbidden {
      if let last = download.lastFault, .now < last.adding(1) {
        // It has just been tried: many a change of the network is followed by others.
        download.retryAt = min(download.retryAt ?? .distantFuture, last.adding(1))
      } else {
        download.retryAt = nil
      }
      download.attempts = 0
      touch(download)
    }
  }
}
