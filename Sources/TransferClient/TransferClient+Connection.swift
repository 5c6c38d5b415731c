package import Configuration
internal import EpisodeCache
internal import Glibc
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

// The daemon is found, started where none runs, and found again when it has ended.
extension TransferClient {
  private var mayConnect: Bool { connection == nil && !isStopped && !tries.isResting }

  /// Joins a daemon that runs already; starts none.
  func connectIfRunning() {
    if mayConnect, let socket = DaemonPlace.connect(in: places.state) { use(socket) }
  }

  /// Joins the daemon, and starts it where none runs.
  func connect() {
    guard mayConnect else { return }
    if let socket = DaemonPlace.connect(in: places.state) { return use(socket) }
    // The service manager may listen for the daemon, and then starts it.
    if let socket = DaemonPlace.connect(toOwn: DaemonPlace.socket(runtime: places.runtime)) {
      return use(socket)
    }
    launch()
    restAfterTry()
  }

  /// Connects later: milliseconds after a daemon was started, ever more seldom where it cannot start or hangs up.
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
    let connection = FrameSocket<DaemonMessage>(
      socket, loop: loop, receive: { [weak self] in self?.received($0) },
      ended: { [weak self] in self?.lost() })
    link = .greeted(connection)
    connection.send(greeting)
  }

  func sayEverything() {
    sendSettings()
    // In the order in which all was said first: what is dropped at its last close was opened before.
    for number in Set(opens.keys).union(questions.keys).sorted() { say(number) }
  }

  /// The options of the mount, with what the user has said since.
  func sendSettings() {
    guard let settings else { return }
    let steering = Steering(runtime: places.runtime)
    connection?.send(ClientMessage.settings(steering.applied(to: settings)))
  }

  /// The daemon has gone: killed, or idle for long; or it is of another version.
  private func lost() {
    if case .serving(_, let since) = link, MonotonicTime.now > since.adding(1) { tries.count = 0 }
    link = .none
    snapshot.coming = nil
    if !snapshot.isWanted { becameCurrent() }
    reap()
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
  private func failAll(_ why: String, _ errno: Errno = .EIO) {
    if why != failure {
      told.withLock { $0.failure = why }
      LogFile(places.logFile).write(why)
    }
    mirror.nothingComes()
    endAll(TransferFailure(errno, why))
    becameCurrent()
  }

  /// Whether there is something for a daemon to do, or will be. An idle one ends, and is not started again.
  private var isNeeded: Bool {
    !isStopped && (!questions.isEmpty || snapshot.isWanted || mirror.hasUnfinished)
  }

  /// Starts a daemon, unless one that was started before still runs.
  private func launch() {
    reap()
    if child != nil { return }
    guard let path = program ?? ChildProcess.find("podcastfs-transferd") else {
      return cannotStart("podcastfs-transferd is neither beside podcastfs nor in PATH")
    }
    do throws(PosixError) {
      let process = try Self.start(path, places)
      let ending = ChildProcess.watch(process)?.release()
      child = (process, ending)
      if let ending { loop.watch(ending, .readable) { [weak self] _ in self?.reap() } }
    } catch {
      cannotStart("\(error)")
    }
  }

  private static func start(_ path: String, _ places: Places) throws(PosixError) -> Int32 {
    try ChildProcess.start(
      path, ["--state", places.state, "--cache", places.cache, "--runtime", places.runtime])
  }

  private func cannotStart(_ why: String, _ errno: Errno = .EIO) {
    failAll("the transfer daemon cannot start: \(why)", errno)
  }

  private func reap() {
    guard let child, let status = ChildProcess.reap(child.process) else { return }
    leaveChild()
    // Killed ones are started again; one that gives up by itself would do so again.
    guard (1..<128).contains(status) else { return }
    let isFull = status == DaemonPlace.noRoomStatus
    let why = isFull ? "no space left on the disk" : "podcastfs-transferd ended with status \(status)"
    cannotStart(DaemonPlace.failure(in: places.state) ?? why, isFull ? .ENOSPC : .EIO)
  }

  func leaveChild() {
    if let ending = child?.ending {
      loop.unwatch(ending)
      Glibc.close(ending)
    }
    child = nil
  }

  /// Starts the daemon where downloads are unfinished and no daemon runs, as after a reboot. It does not wait for it.
  package static func resumeUnfinished(_ places: Places) {
    guard access(TransferStore.path(in: places.state), F_OK) == 0,
      let store = try? TransferStore(reading: places.state), (try? store.hasUnfinished()) == true,
      DaemonPlace.connect(in: places.state) == nil, (try? places.create()) != nil,
      DaemonPlace.connect(toOwn: DaemonPlace.socket(runtime: places.runtime)) == nil,
      let path = ChildProcess.find("podcastfs-transferd")
    else { return }
    _ = try? start(path, places)
  }
}
