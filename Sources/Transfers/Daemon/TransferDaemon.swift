package import Configuration
internal import EpisodeCache
internal import Glibc
internal import HTTPKit
package import PosixKit
internal import SQLiteKit
internal import TransferEngine
internal import TransferProtocol
internal import TransferStore

/// The transfer daemon: serves its user, runs the engine, and ends when nobody has wanted anything for a while.
///
/// Only the loop's thread touches what changes, from `run` on: that makes it Sendable.
package final class TransferDaemon: @unchecked Sendable {
  private let places: Places
  /// Seconds without anything to do after which it ends.
  private let idleTime: Double
  /// A listening socket that it was started with (sd_listen_fds(3)).
  private let inheritedSocket: Int32?
  private let loop: EventLoop
  // The loop's own from `run` on.
  private var driver: EngineDriver?
  private var listener: Int32?
  private var networkWatch: NetworkWatch?
  private var socketWatch: FileWatch?
  private var idleTimer: EventLoop.Timer?
  private var isIdle = false
  private var isEnding = false

  package init(_ places: Places, idleTime: Double, inheritedSocket: Int32?) throws(PosixError) {
    (self.places, self.idleTime, self.inheritedSocket) = (places, idleTime, inheritedSocket)
    loop = try EventLoop()
  }

  /// Serves until it is stopped or has been idle for long enough.
  /// - Returns: false where another daemon serves this user already.
  /// - Throws: a `CustomStringConvertible` error where it can't begin.
  package func run() throws -> Bool {
    let layout = CacheLayout(cache: places.cache, runtime: places.runtime)
    try Directories.createPrivate(places.state)
    try Directories.createPrivate(places.runtime)
    guard let lock = try DaemonLock.take(in: places.state) else { return false }
    HTTPLibrary.loadBehind()
    try layout.create()
    let path = DaemonPlace.socket(runtime: places.runtime)
    let listener: FileDescriptor
    if let inherited = inheritedSocket {
      listener = FileDescriptor(owning: inherited)
    } else {
      listener = try UnixSocket.listen(at: path)
    }
    // For people: it serves without that where the folder has no room left.
    let number = Array("\(getpid())\n".utf8)
    try? Directories.replace(DaemonPlace.pidFile(runtime: places.runtime), with: number, outlivesPower: false)
    HTTPSession.blockBrokenPipeSignal()
    let log = LogFile(places.logFile)
    let loop = loop
    let driver = try TransferStore.with(places.state, log) {
      try EngineDriver(loop: loop, layout: layout, store: $0, log: log)
    }
    self.driver = driver
    driver.report = { [weak self] in self?.heard($0) }
    let socket = listener.rawValue
    self.listener = socket
    loop.watch(socket, .readable) { [weak self] _ in self?.accept(on: socket) }
    watchNetwork(driver)
    watchSocket(path)
    driver.start()
    try lock.publish(socket: path)
    unlink(DaemonPlace.failureFile(in: places.state))
    loop.run()
    unlink(DaemonPlace.pidFile(runtime: places.runtime))
    return true
  }

  package static func isForLackOfRoom(_ error: any Error) -> Bool {
    let errno = (error as? PosixError)?.errno ?? (error as? DatabaseError)?.errno
    return errno == .ENOSPC || errno == .EDQUOT
  }

  /// Ends `run` in order; from any thread.
  package func stop() { loop.async { self.end() } }

  private func end() {
    if isEnding { return }
    isEnding = true
    for descriptor in [listener, socketWatch?.descriptor].compactMap(\.self) { loop.unwatch(descriptor) }
    // Clients find nobody, and start the next daemon, which waits for the lock.
    if inheritedSocket == nil { unlink(DaemonPlace.socket(runtime: places.runtime)) }
    driver?.stop { [loop] in loop.stop() }
  }

  /// Ends where its socket is deleted (at logout): nobody could reach it, and the next one would wait for its lock.
  private func watchSocket(_ path: String) {
    guard let watch = try? FileWatch(), watch.add(places.runtime, .vanishing) != nil else { return }
    socketWatch = watch
    loop.watch(watch.descriptor, .readable) { [weak self] _ in
      if !watch.events().isEmpty, !Directories.exists(path) { self?.end() }
    }
    // It may have gone before anybody watched.
    if access(path, F_OK) != 0 { end() }
  }

  private func watchNetwork(_ driver: EngineDriver) {
    guard let watch = try? NetworkWatch() else { return }
    networkWatch = watch
    loop.watch(watch.descriptor, .readable) { _ in
      if watch.hasChanged() { driver.networkChanged() }
    }
  }

  private func accept(on listener: Int32) {
    while true {
      guard let socket = UnixSocket.accept(on: listener) else {
        // Without descriptors, whoever waits must not keep the loop busy.
        if [.EMFILE, .ENFILE].contains(Errno.current) {
          loop.setInterest(listener, [])
          loop.schedule(at: .after(2)) { [loop] in loop.setInterest(listener, .readable) }
        }
        return
      }
      // Only this user's own orders, and root's.
      guard let peer = try? UnixSocket.peer(of: socket.rawValue), peer.user == geteuid() || peer.user == 0
      else { continue }
      driver?.serve(socket)
    }
  }

  private func heard(_ report: EngineDriver.Report) {
    switch report {
    case .idle(let isIdle): self.isIdle = isIdle
    case .message: if !isIdle { return }
    case .newerClient: return end()
    }
    if isIdle { startIdleTimer() } else if let idleTimer { loop.cancel(idleTimer) }
  }

  /// Gives spare memory back after two seconds without anything to do, and ends after `idleTime`.
  private func startIdleTimer() {
    if let idleTimer { loop.cancel(idleTimer) }
    idleTimer = loop.schedule(at: .after(min(2, idleTime))) { [weak self] in
      guard let self else { return }
      SpareMemory.giveBack()
      idleTimer = loop.schedule(at: .after(idleTime - 2)) { [weak self] in self?.end() }
    }
  }
}

extension TransferStore {
  /// Gives `use` the store in `state`, or an empty one where that is damaged or of another version and is set aside.
  /// - Throws: what `use` throws, and `DatabaseError`.
  static func with<R>(
    _ state: String, _ log: LogFile, _ use: (consuming sending TransferStore) throws -> R
  ) throws -> R {
    do {
      return try use(try TransferStore(state: state))
    } catch let error as DatabaseError where error.isDamaged || error.isOfOtherShape || error.isOfOtherVersion
    {
      let kept = setAside(in: state)
      log.write("the database of downloads cannot be used (\(error.message)): set aside as \(kept)")
      return try use(try TransferStore(state: state))
    }
  }
}
