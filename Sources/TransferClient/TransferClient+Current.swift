internal import PosixKit

extension TransferClient {
  /// Calls `completion` once, on any thread, when `allStatuses` is the word of the daemon that runs, or when
  /// none runs. Joins a daemon that has been started meanwhile.
  package func whenCurrent(_ completion: @escaping @Sendable () -> Void) { session.whenCurrent(completion) }
}

extension ClientSession {
  func whenCurrent(_ completion: @escaping @Sendable () -> Void) {
    loop.async {
      self.connectIfRunning()
      if self.connection == nil || (!self.isConnecting && self.snapshot == nil) { return completion() }
      self.currentWaiters.append(completion)
    }
  }

  /// The daemon has told all, or has gone.
  func becameCurrent() {
    let waiters = currentWaiters
    currentWaiters = []
    for waiter in waiters { waiter() }
  }
}
