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
    // Whoever hung up is gone.
    refusals = 0
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
    peer = try? UnixSocket.peer(of: socket.rawValue).process
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

  /// The daemon has gone: killed, or idle for long; or what answers is none, or does not serve this version.
  private func lost() {
    connection = nil
    isConnecting = false
    readiness.withLock { $0.isServed = false }
    snapshot = nil
    let hasServed = welcomed.map { MonotonicTime.now > $0.time.adding(1) } ?? false
    let version = welcomed?.version
    welcomed = nil
    if hasServed { launcher.forgive() }
    refusals = hasServed ? 0 : refusals + 1
    if let why = refusal(by: version) {
      failAll(why)
    } else if hasServed {
      becameCurrent()
    }
    launcher.reap()
    // A daemon that has died is started at once; what hangs up does so again.
    let delay = refusals < 2 ? 0.01 : min(0.125 * Double(1 << min(refusals - 1, 10)), 10)
    isHoldingOff = refusals > 0
    loop.schedule(at: .after(delay)) {
      self.isHoldingOff = false
      if self.isNeeded { return self.connect() }
      // Who only asks how things are hears whether that is a daemon.
      if !self.currentWaiters.isEmpty { self.connectIfRunning() }
      if self.connection == nil { self.becameCurrent() }
    }
  }

  /// Why nobody is served: what answers has hung up again and again. One that dies as it is joined has gone before.
  /// - Parameter version: what it has said that it is of; nil where it has said nothing, or nothing of sense.
  private func refusal(by version: UInt32?) -> String? {
    if refusals > 0, let version, version > FrameWriter.version { return Self.isOutdated }
    if refusals < Self.fewRefusals { return nil }
    let process = peer.map { "process \($0)" } ?? "another process"
    return if let version, version < FrameWriter.version {
      "the transfer daemon (\(process)) is of an older podcastfs and does not make way: end it"
    } else {
      "\(process), which has the transfer daemon's lock, hangs up: end it"
    }
  }

  /// Times in a row that what answers may hang up before that is told.
  static let fewRefusals = 4

  private static let isOutdated =
    "the transfer daemon is of a newer podcastfs than this mount: unmount and mount it again"

  private var isExpected: Bool { readiness.withLock { $0.expectedUntil > .now } }

  /// A daemon can't begin, or does not serve: who waits hears why at once.
  func failAll(_ why: String, _ errno: Errno = .EIO) {
    if why != failure.withLock({ $0 }) {
      failure.withLock { $0 = why }
      LogFile(places.logFile).write(why)
    }
    mirror.nothingComes()
    let failure = TransferFailure(errno, why)
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
