internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

/// Notices downloads that fail while a mount is there.
enum FailureWatch {
  /// - Parameter failed: called once for each that was not failed before.
  static func begin(_ transfers: TransferClient, failed: @escaping @Sendable (TransferStatus) -> Void) {
    let known = Monitor(Set(transfers.allStatuses().filter { $0.state == .failed }.map(\.key)))
    transfers.observe { key in
      guard let status = transfers.status(of: key) else { return }
      let isNew = known.withLock { known in
        if status.state == .failed { return known.insert(key).inserted }
        known.remove(key)
        return false
      }
      if isNew { failed(status) }
    }
  }
}
