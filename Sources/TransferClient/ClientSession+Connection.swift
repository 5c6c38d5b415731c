internal import Configuration
internal import EpisodeCache
internal import PosixKit
internal import TransferProtocol

extension ClientSession {
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
    launcher.launch(again: tries.count > 0 && tries.count % 8 == 0)
    restAfterTry()
  }

  /// Connects later, where that is needed then. A daemon that has been started listens within milliseconds; one that
  /// cannot start, or hangs up, is tried ever more seldom.
  private func restAfterTry() {
    tries.count += 1
    tries.isResting = true
    loop.schedule(at: .after(min(0.005 * Double(1 << min(tries.count, 11)), 10))) {
      self.tries.isResting = false
      if self.isNeeded { return self.connect() }
      // A command that only asks for the state hears whether a daemon answers.
      if !self.snapshot.waiters.isEmpty { self.connectIfRunning() }
      if self.connection == nil { self.becameCurrent() }
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
    // The daemon is to know what is open when it hears what to drop at the last close.
    for number in orders.keys.sorted() where orders[number]?.order.verb != .dropAtClose { sayOrder(number) }
    for number in opens.keys.sorted() { sayOpen(number) }
    // The daemon knows by now what is open.
    for number in orders.keys.sorted() where orders[number]?.order.verb == .dropAtClose { sayOrder(number) }
    for number in waits.keys.sorted() { sayWait(number) }
  }

  private func sayOrder(_ number: UInt64) {
    guard let order = orders[number]?.order else { return }
    connection?.send(ClientMessage.order(id: number, order))
  }

  /// The options of the mount, with what the user has said since.
  func sendSettings() {
    guard let settings else { return }
    let steering = Steering(runtime: places.runtime)
    connection?.send(ClientMessage.settings(steering.applied(to: settings)))
  }

  func saySettings() { loop.async { self.sendSettings() } }

  /// The daemon has gone: killed, or idle for long; or it is of another version.
  private func lost() {
    connection = nil
    serves.withLock { $0 = false }
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
      && (!orders.isEmpty || !waits.isEmpty || opens.values.contains { $0.completion != nil }
        || snapshot.isWanted || mirror.hasUnfinished)
  }
}
