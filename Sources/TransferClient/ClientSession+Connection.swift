internal import Configuration
internal import EpisodeCache
internal import PosixKit
internal import TransferProtocol

// The connection: made, lost, made again.
extension ClientSession {
  /// Joins a daemon that runs already; starts none.
  func connectIfRunning() {
    guard connection == nil, !isStopped, !isResting, let socket = launcher.connect() else { return }
    use(socket)
  }

  /// Joins the daemon, and starts it where none runs.
  func connect() {
    guard connection == nil, !isStopped, !isResting else { return }
    if let socket = launcher.connect() { return use(socket) }
    if let socket = launcher.activate() { return use(socket) }
    // Whoever hung up is gone.
    hangUps = 0
    launcher.launch(again: launches > 0 && launches % 8 == 0)
    // A daemon that has been started listens within milliseconds; one that can't start is started ever more seldom.
    launches += 1
    rest(min(0.005 * Double(1 << min(launches, 11)), 10))
  }

  /// Connects after `delay` seconds, where that is needed then.
  private func rest(_ delay: Double) {
    isResting = true
    loop.schedule(at: .after(delay)) {
      self.isResting = false
      if self.isNeeded { return self.connect() }
      // A command that only asks for the state hears whether a daemon answers.
      if !self.currentWaiters.isEmpty { self.connectIfRunning() }
      if self.connection == nil { self.becameCurrent() }
    }
  }

  private func use(_ socket: consuming FileDescriptor) {
    peer = try? UnixSocket.peer(of: socket.rawValue).process
    connection = FrameSocket(
      socket, loop: loop, receive: { [weak self] in self?.received($0) },
      ended: { [weak self] in self?.lost() })
    connection?.send(greeting)
  }

  /// The daemon has answered: it hears all that holds.
  func sayEverything() {
    if let settings { connection?.send(ClientMessage.settings(settings)) }
    for (_, order) in orders.sorted(by: { $0.key < $1.key }) { connection?.send(order.message) }
    for number in opens.keys.sorted() { sayOpen(number) }
    for number in waits.keys.sorted() { sayWait(number) }
  }

  /// The daemon has gone: killed, or idle for long; or what answers is none, or does not serve this version.
  private func lost() {
    connection = nil
    readiness.withLock { $0.isServed = false }
    snapshot = nil
    let hasServed = welcomed.map { MonotonicTime.now > $0.time.adding(1) } ?? false
    let version = welcomed?.version
    welcomed = nil
    hangUps = hasServed ? 0 : hangUps + 1
    if let why = refusal(by: version) {
      failAll(why)
    } else if hasServed {
      becameCurrent()
    }
    launcher.reap()
    // A daemon that has died is started at once; what hangs up does so again.
    rest(min(0.01 * Double(1 << (2 * min(hangUps, 5))), 10))
  }

  /// Why nobody is served: what answers has hung up again and again. A daemon that died while it was joined has gone.
  /// - Parameter version: the one that it has told; nil where it has told none.
  private func refusal(by version: UInt32?) -> String? {
    if hangUps > 0, let version, version > Frames.version {
      return "the transfer daemon is of a newer podcastfs than this mount: unmount and mount it again"
    }
    if hangUps < Self.mostHangUps { return nil }
    return "process \(peer ?? 0), which holds the transfer daemon's lock, closes every connection: stop it"
  }

  /// Times in a row that what answers may hang up before whoever waits hears of it.
  static let mostHangUps = 4

  /// A daemon can't begin, or does not serve: who waits hears why at once.
  func failAll(_ why: String, _ errno: Errno = .EIO) {
    if why != failure.withLock({ $0 }) {
      failure.withLock { $0 = why }
      LogFile(places.logFile).write(why)
    }
    mirror.nothingComes()
    endAll(TransferFailure(errno, why))
    becameCurrent()
  }

  /// Whether there is something for a daemon to do, or will be. An idle one ends, and is not started again.
  private var isNeeded: Bool {
    !isStopped
      && (readiness.withLock { $0.expectedUntil > .now } || !orders.isEmpty || !waits.isEmpty
        || opens.values.contains { $0.completion != nil } || wantsAll || mirror.hasUnfinished)
  }
}
