internal import Configuration
internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// The client's side of the daemon: one connection, made when something is wanted, made again when the daemon
/// has died, with all that still holds said again.
///
/// All but what its methods do first happens on its loop's thread; that makes it Sendable.
final class ClientSession: @unchecked Sendable {
  typealias OpenCompletion = @Sendable (Result<any OpenEpisode, TransferFailure>) -> Void

  let loop: EventLoop
  let places: Places
  var settings: TransferSettings?
  let mirror: StatusMirror
  let launcher: DaemonLauncher
  /// Why no daemon serves; nil while one does, or none was needed.
  let failure = Monitor<String?>(nil)
  private let lastNumber = Monitor<UInt64>(0)
  let serves = Monitor(false)
  private let addressHandler = Monitor<Callback<(MediaKey, String)>?>(nil)

  // The loop's own.
  var connection: FrameSocket<DaemonMessage>?
  /// Since when the daemon has been serving; nil before it has answered.
  var welcomed: MonotonicTime?
  /// Tries in a row that found no daemon, or one that hung up at once; and whether none is made for now.
  var tries = (count: 0, isResting: false)
  /// What has been said to the daemon and holds until it is closed.
  var opens: [UInt64: OpenEntry] = [:]
  var waits: [UInt64: WaitEntry] = [:]
  /// Orders that the daemon has not confirmed.
  var orders: [UInt64: (order: TransferOrder, completion: OrderCompletion, deadline: EventLoop.Timer)] = [:]
  var failures = Failures()
  var snapshot = Snapshot()
  var isStopped = false
  private var watches: (cache: CacheWatch?, lock: FileWatch?)

  struct Failures {
    /// Where a wait for bytes of an episode has ended in vain a moment ago.
    var vain: [MediaKey: (offset: Int64, until: MonotonicTime)] = [:]
    /// Failures that the log has, and when they were last told.
    var logged: [String: MonotonicTime] = [:]
  }

  struct Snapshot {
    /// What has come of it; nil where it is not under way.
    var coming: [TransferStatus]?
    /// Whether it is wanted: the store could not be read.
    var isWanted = false
    var waiters: [@Sendable () -> Void] = []
  }

  init(places: Places, settings: TransferSettings?, mirror: StatusMirror, daemon: String?) throws {
    loop = try EventLoop()
    self.places = places
    self.settings = settings
    self.mirror = mirror
    launcher = DaemonLauncher(places: places, program: daemon, loop: loop)
    launcher.failed = { [weak self] failure in
      self?.failAll("the transfer daemon cannot start: \(failure.message)", failure.errno)
    }
  }

  /// Where the daemon keeps the cache: its word, once it has told.
  var layout: CacheLayout { mirror.layout }

  func start() {
    let loop = loop
    PosixThread.start("transfers") { loop.run() }
    loop.async {
      self.connectIfRunning()
      self.watchFiles()
    }
  }

  func stop() {
    loop.async { self.end() }
  }

  func setAddressHandler(_ handler: @escaping @Sendable (MediaKey, String) -> Void) {
    addressHandler.withLock { $0 = Callback { handler($0.0, $0.1) } }
    // The daemon may have heard that nobody here knows any.
    loop.async { self.connection?.send(self.greeting) }
  }

  func resumeUnfinished() {
    loop.async { if self.mirror.hasUnfinished { self.connect() } }
  }

  /// Has the daemon tell what there is, where nobody else can.
  func askForAll() {
    loop.async {
      // What it has been told since is all.
      if self.welcomed != nil && self.snapshot.coming == nil { return }
      self.snapshot.isWanted = true
      self.connect()
    }
  }

  /// Whether a daemon serves; of any thread.
  var isServed: Bool { serves.withLock { $0 } }

  func send(_ message: ClientMessage) { loop.async { self.connection?.send(message) } }

  /// Orders something; `completion` when the daemon has remembered it.
  func order(_ order: TransferOrder, _ completion: @escaping OrderCompletion) -> any Cancellable {
    let number = nextNumber()
    let isTaken = loop.async {
      if self.isStopped { return completion(Self.stopped) }
      self.add(order, as: number, completion)
    }
    if !isTaken { completion(Self.stopped) }
    return Cancellation(self) { $0.finishOrder(number, Self.interrupted) }
  }

  /// Asked of the loop's thread; as of none where that has ended.
  var underWay: Int {
    let count = Monitor<Int?>(nil)
    let isAsked = loop.async {
      let found = self.opens.count + self.waits.count + self.orders.count + self.snapshot.waiters.count
      count.withLockNotifying { $0 = found }
    }
    return isAsked ? count.wait(until: .after(Self.orderTimeout)) { $0 } ?? 0 : 0
  }

  static let stopped = TransferFailure(.EINTR, "the client has stopped")
  static let interrupted = TransferFailure(.EINTR, "interrupted")

  /// Says an order. One that no daemon takes does not wait for ever.
  func add(_ order: TransferOrder, as number: UInt64, _ completion: @escaping OrderCompletion) {
    let deadline = loop.schedule(at: .after(Self.orderTimeout)) { [unowned self] in
      finishOrder(number, TransferFailure(.ETIMEDOUT, "the transfer daemon does not answer"))
    }
    orders[number] = (order, completion, deadline)
    say(.order(id: number, order))
  }

  func finishOrder(_ number: UInt64, _ failure: TransferFailure?) {
    guard let order = orders.removeValue(forKey: number) else { return }
    loop.cancel(order.deadline)
    order.completion(failure)
  }

  static let orderTimeout = 30.0

  /// A number that nothing else of this client has or had; from any thread.
  func nextNumber() -> UInt64 {
    lastNumber.withLock { number in
      number += 1
      return number
    }
  }

  /// Sends now, or, with everything else that holds, when there is a connection.
  func say(_ message: ClientMessage) {
    if let connection, welcomed != nil { connection.send(message) } else { connect() }
  }

  private func end() {
    if isStopped { return }
    isStopped = true
    endAll(Self.stopped)
    connection?.close()
    connection = nil
    launcher.stop()
    watches.cache = nil
    watches.lock = nil
    becameCurrent()
    loop.stop()
  }

  func endAll(_ failure: TransferFailure) {
    for number in waits.keys { finishWait(number, failure) }
    for number in opens.keys { finishOpen(number, .failure(failure)) }
    for number in orders.keys { finishOrder(number, failure) }
  }

  func received(_ message: DaemonMessage) {
    switch message {
    case .welcome(let version, let cache, let runtime):
      guard isServed(by: version) else { return }
      mirror.layout = CacheLayout(cache: cache, runtime: runtime)
      snapshot.coming = []
      welcomed = .now
      serves.withLock { $0 = true }
      sayEverything()
    case .changed(let statuses, let counts):
      mirror.httpCounts = counts
      watches.cache?.renew()
      if snapshot.coming != nil { snapshot.coming? += statuses } else { mirror.update(statuses) }
    case .snapshotEnd:
      failure.withLock { $0 = nil }
      if let all = snapshot.coming { mirror.replace(with: all) }
      snapshot.coming = nil
      becameCurrent()
    case .answer(let id, let failure, let generation):
      if orders[id] != nil { return finishOrder(id, failure) }
      if waits[id] != nil { return failure == nil ? available(id) : finishWait(id, failure) }
      if let failure { finishOpen(id, .failure(failure)) } else { opened(id, generation) }
    case .needAddress(let key, let url):
      if let handler = addressHandler.withLock({ $0 }) {
        handler((key, url))
      } else {
        connection?.send(ClientMessage.freshAddress(key, nil))
      }
    }
  }

  /// Hears, without asking again and again, of episodes that somebody deletes from the cache, and of a daemon
  /// that another client starts: it tells what changes.
  private func watchFiles() {
    if let watch = try? CacheWatch(layout) {
      watches.cache = watch
      loop.watch(watch.descriptor, .readable) { [mirror] _ in mirror.vanished(watch.vanished()) }
    }
    let lockFile = DaemonPlace.lockFile(in: places.state)
    guard let watch = try? FileWatch(), watch.add(lockFile, .writing) != nil else { return }
    watches.lock = watch
    loop.watch(watch.descriptor, .readable) { [weak self] _ in
      guard let self, !watch.events().isEmpty else { return }
      // Another one, perhaps.
      tries.isResting = false
      connectIfRunning()
    }
  }

  var greeting: ClientMessage {
    .hello(
      version: Frames.version, observes: true,
      answersAddresses: addressHandler.withLock { $0 != nil })
  }
}

extension ClientSession {
  func whenCurrent(_ completion: @escaping @Sendable () -> Void) {
    loop.async {
      self.connectIfRunning()
      let isComing = self.connection != nil && (self.welcomed == nil || self.snapshot.coming != nil)
      if !isComing && !self.snapshot.isWanted { return completion() }
      self.snapshot.waiters.append(completion)
    }
  }

  /// The daemon has told all, or has gone.
  func becameCurrent() {
    snapshot.isWanted = false
    let waiters = snapshot.waiters
    snapshot.waiters = []
    for waiter in waiters { waiter() }
  }

  /// Tells why an open or a read has failed: for its `error`, and in the log where the daemon does not say the same,
  /// each line once a minute.
  func tell(_ failure: TransferFailure, _ doing: String, _ request: TransferRequest) {
    if failure.errno == .EIO { mirror.note(failure.message, of: request.key) }
    let isOfUse = failure.errno == .EIO || failure.errno == .ESTALE
    guard isOfUse, failure.message != self.failure.withLock({ $0 }),
      failure.message != mirror.status(of: request.key)?.error
    else { return }
    let line = "cannot \(doing) \(request.show) – \(request.title): \(failure.message)"
    let now = MonotonicTime.now
    if let last = failures.logged[line], now < last.adding(60) { return }
    if failures.logged.count >= Self.loggedLines { failures.logged = [:] }
    failures.logged[line] = now
    LogFile(places.logFile).write(line)
  }

  private static let loggedLines = 100
}
