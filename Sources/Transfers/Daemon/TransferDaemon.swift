internal import Configuration
internal import EpisodeCache
internal import Glibc
internal import HTTPKit
package import PosixKit
internal import TransferProtocol
internal import TransferStore

/// The transfer daemon: listens, serves its user's clients, runs the engine, and ends when nobody has wanted
/// anything for a while.
package final class TransferDaemon: @unchecked Sendable {
  package struct Configuration: Sendable {
    package var state: String
    package var cache: String
    package var runtime: String
    /// Seconds without anything to do after which it ends.
    package var idleTime = 300.0
    /// A listening socket that it was started with (sd_listen_fds(3)).
    package var inheritedSocket: Int32?

    package init(state: String, cache: String, runtime: String) {
      self.state = state
      self.cache = cache
      self.runtime = runtime
    }
  }

  private let configuration: Configuration
  private let loop: EventLoop
  // The loop's own from `run` on.
  private var connections: [ObjectIdentifier: ClientConnection] = [:]
  private var engine: Engine?
  private var networkWatch: NetworkWatch?
  private var socketWatch: FileWatch?
  private var idleTimer: EventLoop.Timer?
  private var isIdle = false

  package init(_ configuration: Configuration) throws(PosixError) {
    self.configuration = configuration
    loop = try EventLoop()
  }

  /// Serves until it is stopped or has been idle for long enough.
  /// - Returns: false where another daemon serves this user already.
  /// - Throws: a `CustomStringConvertible` error where it can't begin.
  package func run() throws -> Bool {
    let layout = CacheLayout(cache: configuration.cache, runtime: configuration.runtime)
    try Directories.createPrivate(configuration.state)
    try Directories.createPrivate(configuration.runtime)
    guard let lock = try DaemonLock.take(in: configuration.state) else { return false }
    try layout.create()
    let path = DaemonPlace.socket(runtime: configuration.runtime)
    let listener: FileDescriptor
    if let inherited = configuration.inheritedSocket {
      listener = FileDescriptor(owning: inherited)
    } else {
      listener = try UnixSocket.listen(at: path)
    }
    let pidFile = DaemonPlace.pidFile(runtime: configuration.runtime)
    try Directories.replace(pidFile, with: Array("\(getpid())\n".utf8))
    let engine = try Engine(
      loop: loop, layout: layout, http: HTTPClient(name: "curl"),
      store: TransferStore(state: configuration.state),
      log: LogFile(Places.logFile(in: configuration.state)))
    self.engine = engine
    engine.idlenessChanged = { [weak self] in self?.idlenessChanged($0) }
    loop.watch(listener.rawValue, .readable) { [weak self, number = listener.rawValue] _ in
      self?.accept(on: number)
    }
    watchCache(layout, engine)
    watchNetwork(engine)
    watchSocket(path)
    engine.start()
    engine.sweep()
    try lock.publish(socket: path)
    loop.run()
    if configuration.inheritedSocket == nil { unlink(path) }
    for connection in connections.values { connection.close() }
    engine.stop()
    unlink(pidFile)
    return true
  }

  /// Ends `run` in order; from any thread.
  package func stop() { loop.stop() }

  /// Hears of files that somebody deletes.
  private func watchCache(_ layout: CacheLayout, _ engine: Engine) {
    guard let watch = try? CacheWatch(layout) else { return }
    engine.cacheWatch = watch
    loop.watch(watch.descriptor, .readable) { _ in engine.checkCache(watch.vanished()) }
  }

  /// Ends where its socket is deleted (the runtime directory goes when the user logs out): nobody could reach
  /// it any more, and the next one would wait for its lock.
  private func watchSocket(_ path: String) {
    guard let watch = try? FileWatch(), watch.add(configuration.runtime, .vanishing) != nil else { return }
    socketWatch = watch
    loop.watch(watch.descriptor, .readable) { [weak self] _ in
      if !watch.events().isEmpty, access(path, F_OK) != 0 { self?.loop.stop() }
    }
    // It may have gone before anybody watched.
    if access(path, F_OK) != 0 { loop.stop() }
  }

  private func watchNetwork(_ engine: Engine) {
    guard let watch = try? NetworkWatch() else { return }
    networkWatch = watch
    loop.watch(watch.descriptor, .readable) { _ in
      watch.drain()
      engine.networkChanged()
    }
  }

  private func accept(on listener: Int32) {
    while let socket = UnixSocket.accept(on: listener) {
      // Only this user's own orders, and root's.
      guard let peer = try? UnixSocket.peer(of: socket.rawValue), peer.user == geteuid() || peer.user == 0
      else { continue }
      let connection = ClientConnection(
        socket, loop: loop, receive: { [weak self] in self?.received($1, from: $0) },
        ended: { [weak self] in self?.ended($0) })
      connections[ObjectIdentifier(connection)] = connection
      engine?.add(connection)
    }
  }

  private func received(_ message: ClientMessage, from connection: ClientConnection) {
    guard let engine else { return }
    if case .hello(let version, let observes, let answers) = message {
      let isFirst = connection.greet(observes: observes, answersAddresses: answers)
      // A client says it again where it can tell fresh addresses from now on.
      guard isFirst else { return }
      connection.send(
        .welcome(version: FrameWriter.version, cache: configuration.cache, runtime: configuration.runtime))
      // Another version's client understands no more than this; a later one starts its own daemon.
      guard version == FrameWriter.version else {
        connection.close()
        if version > FrameWriter.version { loop.stop() }
        return
      }
      if observes { engine.sendSnapshot(to: connection) }
    } else {
      engine.perform(message, of: connection)
    }
    if isIdle { startIdleTimer() }
  }

  private func ended(_ connection: ClientConnection) {
    connections[ObjectIdentifier(connection)] = nil
    engine?.remove(connection)
  }

  private func idlenessChanged(_ isIdle: Bool) {
    self.isIdle = isIdle
    if isIdle {
      startIdleTimer()
    } else if let idleTimer {
      loop.cancel(idleTimer)
    }
  }

  private func startIdleTimer() {
    if let idleTimer { loop.cancel(idleTimer) }
    idleTimer = loop.schedule(at: .after(configuration.idleTime)) { [weak self] in self?.loop.stop() }
  }
}
