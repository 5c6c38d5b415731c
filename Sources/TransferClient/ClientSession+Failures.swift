internal import Configuration
internal import PosixKit
internal import TransferProtocol

extension ClientSession {
  /// Tells why an open or a read has failed: for its `error`, and in the log where the daemon does not say the same,
  /// each line once a minute.
  func tell(_ failure: TransferFailure, _ doing: String, _ request: TransferRequest) {
    if failure.errno == .EIO { mirror.note(failure.message, of: request.key) }
    let isOfUse = failure.errno == .EIO || failure.errno == .ESTALE
    guard isOfUse, failure.message != self.failure.withLock({ $0 }),
      failure.message != mirror.status(of: request.key)?.error
    else { return }
    let line = "cannot \(doing) \(request.show) – \(request.title): \(failure.message)"
    let now = MonotonicTime.now
    if let last = logged[line], now < last.adding(60) { return }
    if logged.count >= Self.loggedLines { logged = [:] }
    logged[line] = now
    LogFile(places.logFile).write(line)
  }

  private static let loggedLines = 100
}
