internal import Configuration
internal import EpisodeCache
internal import PosixKit
internal import TransferProtocol

// The connection: made, lost, made again.
extension ClientSession {
  /// Joins a daemon that runs already; starts none.
  func connectIfRunning() {
    guard connection == nil, !isStopped, !isHoldingOff, let socket = launcher.connect() else { return }
    use(socket)
  }

  /// Joins the daemon, and starts it where none runs.
  func connect() {
    guard connection == nil, !isConnecting, !isStopped, !isHoldingOff else { return }
    if let socket = launcher.connect() { return use(socket) }
    if let socket = launcher.activate() { return use(socket) }
    isConnecting = true
    launcher.launchIfDue()
    tryAgain()
  }

  private func tryAgain() {
    failedTries += 1
    // A daemon that has been started listens within milliseconds; one that can't start is not started
    // faster and faster.
    let delay = min(0.005 * Double(1 << min(failedTries, 9)), 1)
    loop.schedule(at: .after(delay)) {
      self.isConnecting = false
      guard self.isNeeded else { return }
      self.connect()
    }
  }

  private func use(_ socket: consuming FileDescriptor) {
    isConnecting = true
    connection = DaemonConnection(
      socket, loop: loop, receive: { [weak self] in self?.received($0) },
      ended: { [weak self] in self?.lost() })
    connection?.send(greeting)
  }

  /// The daemon has answered: it hears all that holds.
  func sayEverything() {
    isConnecting = false
    if let settings { connection?.send(.settings(settings)) }
    for number in orders.keys.sorted() { if let order = orders[number] { connection?.send(order.message) } }
    for number in opens.keys.sorted() { sayOpen(number) }
    for number in waits.keys.sorted() {
      guard let wait = waits[number] else { continue }
      connection?.send(
        .wait(id: number, open: wait.open, offset: wait.offset, count: Int64(wait.count)))
    }
  }

  /// The daemon has gone: killed, or idle for long; or it does not serve this version.
  private func lost() {
    connection = nil
    isConnecting = false
    readiness.withLock { $0.isServed = false }
    snapshot = nil
    let hasServed = welcomed.map { MonotonicTime.now > $0.time.adding(1) } ?? false
    if hasServed { launcher.forgive() }
    if let welcomed, welcomed.version != FrameWriter.version, !hasServed {
      refusals += 1
      if welcomed.version > FrameWriter.version { failAll(Self.isOutdated) }
    } else {
      refusals = 0
    }
    welcomed = nil
    becameCurrent()
    launcher.reap()
    // One that sends this version away does so again.
    let delay = refusals == 0 ? 0.01 : min(0.05 * Double(1 << min(refusals, 10)), 30)
    isHoldingOff = refusals > 0
    loop.schedule(at: .after(delay)) {
      self.isHoldingOff = false
      if self.isNeeded { self.connect() }
    }
  }

  private static let isOutdated =
    "the transfer daemon is of a newer podcastfs than this mount: unmount and mount it again"

  private var isExpected: Bool { readiness.withLock { $0.expectedUntil > .now } }

  /// A daemon can't begin, or does not serve: who waits hears why at once.
  func failAll(_ why: String) {
    if why != failure.withLock({ $0 }) {
      failure.withLock { $0 = why }
      LogFile(places.logFile).write(why)
    }
    let failure = TransferFailure(.EIO, why)
    for number in waits.keys { finishWait(number, failure) }
    for number in opens.keys { finishOpen(number, .failure(failure)) }
    for number in orders.keys { finishOrder(number, failure) }
    becameCurrent()
  }

  /// Whether there is something for a daemon to do, or will be. An idle one ends, and is not started again.
  private var isNeeded: Bool {
    !isStopped
      && (isExpected || !orders.isEmpty || !waits.isEmpty || opens.values.contains { $0.completion != nil }
        || wantsAll || mirror.hasUnfinished)
  }
}
