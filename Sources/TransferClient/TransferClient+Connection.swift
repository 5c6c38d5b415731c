internal import Configuration
internal import EpisodeCache
internal import PosixKit
internal import TransferProtocol

extension TransferClient {
  /// Joins a daemon that runs already; starts none.
  func connectIfRunning() {
    guard connection == nil, !isStopped, !tries.isResting, let socket = launcher.connect() else { return }
    use(socket)
  }

  /// Joins the daemon, and starts it where none runs.
  func connect() {
    guard connection == nil, !isStopped, !tries.isResting else { return }
    if let socket = launcher.connect() { return use(socket) }
    if let socket = launcher.activate() { return use(socket) }
    launcher.launch()
    restAfterTry()
  }

  /// Connects later, where that is needed then. A daemon that has been started listens within milliseconds; one that
  /// cannot start, or hangs up, is tried ever more seldom.
  private func restAfterTry() {
    tries.count += 1
    tries.isResting = true
    loop.schedule(at: .after(min(0.005 * Double(1 << min(tries.count, 11)), 10))) { [weak self] in
      guard let self else { return }
      tries.isResting = false
      if isNeeded { return connect() }
      // A command that only asks for the state hears whether a daemon answers.
      if !snapshot.waiters.isEmpty { connectIfRunning() }
      if connection == nil { becameCurrent() }
    }
  }

  private func use(_ socket: consuming FileDescriptor) {
    connection = FrameSocket(
      socket, loop: loop, receive: { [weak self] in self?.received($0) },
      ended: { [weak self] in self?.lost() })
    connection?.send(greeting)
  }

  func sayEverything() {
    sendSettings()
    // In the order in which all was said first: what is dropped at its last close was opened before.
    for number in (Array(opens.keys) + orders.keys).sorted() {
      if let order = orders[number]?.order { say(.order(id: number, order)) } else { sayOpen(number) }
    }
    for number in waits.keys.sorted() { sayWait(number) }
  }

  /// The options of the mount, with what the user has said since.
  func sendSettings() {
    guard let settings else { return }
    let steering = Steering(runtime: places.runtime)
    connection?.send(ClientMessage.settings(steering.applied(to: settings)))
  }

  /// The daemon has gone: killed, or idle for long; or it is of another version.
  private func lost() {
    connection = nil
    told.withLock { $0.isServed = false }
    snapshot.coming = nil
    if let welcomed, MonotonicTime.now > welcomed.adding(1) { tries.count = 0 }
    welcomed = nil
    if !snapshot.isWanted { becameCurrent() }
    launcher.reap()
    restAfterTry()
  }

  /// Whether a daemon of this version serves. One that is older ends when it has been greeted.
  func isServed(by version: UInt32) -> Bool {
    if version > Frames.version {
      failAll("the transfer daemon is of a newer podcastfs than this mount: unmount and mount it again")
      tries.count = 11
    }
    return version == Frames.version
  }

  /// A daemon can't begin, or does not serve: who waits hears why at once.
  func failAll(_ why: String, _ errno: Errno = .EIO) {
    if why != told.withLock({ $0.failure }) {
      told.withLock { $0.failure = why }
      LogFile(places.logFile).write(why)
    }
    mirror.nothingComes()
    endAll(TransferFailure(errno, why))
    becameCurrent()
  }

  /// Whether there is something for a daemon to do, or will be. An idle one ends, and is not started again.
  private var isNeeded: Bool {
    !isStopped
      && (!orders.isEmpty || !waits.isEmpty || opens.values.contains { $0.completion != nil }
        || snapshot.isWanted || mirror.hasUnfinished)
  }
}
