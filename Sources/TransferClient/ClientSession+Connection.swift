internal import EpisodeCache
internal import PosixKit
internal import TransferProtocol

// The connection: made, lost, made again.
extension ClientSession {
  /// Joins a daemon that runs already; starts none.
  func connectIfRunning() {
    guard connection == nil, !isStopped, let socket = launcher.connect() else { return }
    use(socket)
  }

  /// Joins the daemon, and starts it where none runs.
  func connect() {
    guard connection == nil, !isConnecting, !isStopped else { return }
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

  /// The daemon has gone: killed, or idle for long.
  private func lost() {
    connection = nil
    isConnecting = false
    snapshot = nil
    if let welcomed, MonotonicTime.now > welcomed.adding(1) { launcher.forgive() }
    welcomed = nil
    becameCurrent()
    launcher.reap()
    if isNeeded { loop.schedule(at: .after(0.01)) { self.connect() } }
  }

  /// Whether there is something for a daemon to do. An idle one ends, and is not started again.
  private var isNeeded: Bool {
    !isStopped
      && (!orders.isEmpty || !waits.isEmpty || opens.values.contains { $0.completion != nil }
        || mirror.hasUnfinished)
  }
}
