package import PosixKit

extension TransferClient {
  /// Calls `completion` once, on any thread, when `allStatuses` is the word of the daemon that runs, or when
  /// none runs. Joins a daemon that has been started meanwhile.
  package func whenCurrent(_ completion: @escaping @Sendable () -> Void) { session.whenCurrent(completion) }

  /// Waits until `allStatuses` is that, or `deadline` has passed.
  package func waitUntilCurrent(until deadline: MonotonicTime) {
    let isCurrent = Monitor(false)
    whenCurrent { isCurrent.withLockNotifying { $0 = true } }
    _ = isCurrent.wait(until: deadline) { $0 ? true : nil }
  }
}

extension ClientSession {
  func whenCurrent(_ completion: @escaping @Sendable () -> Void) {
    loop.async {
      self.connectIfRunning()
      let isConnected = self.connection != nil && (self.isConnecting || self.snapshot != nil)
      let isInDoubt = self.isHoldingOff && self.refusals < Self.fewRefusals
      if !isConnected && !self.wantsAll && !isInDoubt { return completion() }
      self.currentWaiters.append(completion)
    }
  }

  /// The daemon has told all, or has gone.
  func becameCurrent() {
    wantsAll = false
    let waiters = currentWaiters
    currentWaiters = []
    for waiter in waiters { waiter() }
  }
}
