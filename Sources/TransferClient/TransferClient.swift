package import Configuration
internal import EpisodeCache
internal import Glibc
package import PodcastModel
package import PosixKit
package import TransferProtocol
internal import TransferStore

/// The transfers as a mount or a command sees them. Without a daemon it answers from what it remembers. It starts the daemon when
/// somebody wants something. When the daemon dies, it connects to the next one and repeats the orders and opens that still hold.
///
/// Its methods hand their work to the loop's thread, which alone touches what changes, but for what a `Monitor` holds: that makes it
/// Sendable.
package final class TransferClient: TransferService, @unchecked Sendable {
  /// What any thread may ask of the connection.
  struct Told {
    /// Why no daemon serves; nil while one does, or none was needed.
    var failure: String?
    var isServed = false
    var counts = HTTPCounts()
  }

  typealias OpenCompletion = @Sendable (Result<any OpenEpisode, TransferFailure>) -> Void

  let loop: EventLoop
  let places: Places
  let mirror: StatusMirror
  let readTimeout: Double
  let launcher: DaemonLauncher
  let told = Monitor(Told())
  private let lastNumber = Monitor<UInt64>(0)
  private let addressHandler = Monitor<Callback<(MediaKey, String)>?>(nil)

  // The loop's own.
  var settings: TransferSettings?
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
  /// Where a wait for bytes of an episode has ended in vain a moment ago.
  var vain: [MediaKey: (offset: Int64, until: MonotonicTime)] = [:]
  var snapshot = Snapshot()
  var isStopped = false
  private var watch: (files: FileWatch, cache: Int32?)?

  struct Snapshot {
    /// What has come of it; nil where it is not under way.
    var coming: [TransferStatus]?
    /// Whether it is wanted: the store could not be read.
    var isWanted = false
    var waiters: [@Sendable () -> Void] = []
  }

  /// - Parameters:
  ///   - isMount: whether `settings` are the daemon's from now on, and unfinished downloads go on.
  ///   - daemon: the daemon's program; nil for the one beside this program, else in PATH.
  /// - Throws: `PosixError`.
  package init(places: Places, settings: Settings, isMount: Bool, daemon: String? = nil) throws {
    let layout = CacheLayout(cache: places.cache, runtime: places.runtime)
    if isMount {
      // Before they are watched.
      try layout.create()
      try Directories.createPrivate(places.state)
      _ = try FileDescriptor(openingRegular: DaemonPlace.lockFile(in: places.state), O_RDWR | O_CREAT)
    }
    self.places = places
    self.settings = isMount ? TransferSettings(settings) : nil
    readTimeout = settings.readTimeout
    mirror = StatusMirror(layout: layout)
    let known = try? TransferStore(reading: places.state).records()
    mirror.replace(with: known ?? [])
    loop = try EventLoop()
    launcher = DaemonLauncher(places: places, program: daemon, loop: loop)
    launcher.failed = { [weak self] failure in
      self?.failAll("the transfer daemon cannot start: \(failure.message)", failure.errno)
    }
    PosixThread.start("transfers") { [loop] in loop.run() }
    loop.async {
      self.connectIfRunning()
      self.watchFiles()
      // Where the store is lost or can't be read, the daemon knows what the cache holds.
      let hasFiles = !layout.isEmpty || access(TransferStore.path(in: places.state), F_OK) == 0
      // What it has been told since is all.
      if known == nil, hasFiles, self.welcomed == nil || self.snapshot.coming != nil {
        self.snapshot.isWanted = true
        self.connect()
      }
    }
    if isMount { resumeUnfinished() }
  }

  deinit { loop.stop() }

  /// Ends the connection; whatever waits ends with EINTR. The daemon goes on.
  package func stop() { loop.async { self.end() } }

  package func resumeUnfinished() { loop.async { if self.mirror.hasUnfinished { self.connect() } } }

  /// Where the daemon keeps the cache: its word, once it has told.
  var layout: CacheLayout { mirror.layout }

  /// Called, on any thread, when an enclosure's address has expired: to look for a fresh one and tell it by
  /// `freshAddress`. To be set before anything is opened.
  package func setAddressHandler(_ handler: @escaping @Sendable (MediaKey, _ expired: String) -> Void) {
    addressHandler.withLock { $0 = Callback { handler($0.0, $0.1) } }
    // The daemon may have heard that nobody here knows any.
    loop.async { self.connection?.send(self.greeting) }
  }

  /// The answer to the address handler; nil where there is no other address.
  package func freshAddress(_ key: MediaKey, _ url: String?) {
    loop.async { self.connection?.send(ClientMessage.freshAddress(key, url)) }
  }

  package func status(of key: MediaKey) -> TransferStatus? { mirror.status(of: key) }

  package func allStatuses() -> [TransferStatus] { mirror.all() }

  package var httpCounts: HTTPCounts { told.withLock { $0.counts } }

  package func observe(_ observer: @escaping @Sendable (MediaKey) -> Void) { mirror.observe(observer) }

  /// Whether a daemon serves; of any thread.
  package var isServed: Bool { told.withLock { $0.isServed } }

  package func open(
    _ request: TransferRequest, intent: OpenIntent,
    completion: @escaping @Sendable (Result<any OpenEpisode, TransferFailure>) -> Void
  ) -> any Cancellable {
    let status = mirror.status(of: request.key)
    var reader: EpisodeReader?
    if let status, status.generation > 0, status.received > 0 {
      reader = try? EpisodeReader(layout, request.key, status.generation)
    }
    let isWhole = reader?.isWhole ?? false
    reader?.noteRead()
    let episode = RemoteEpisode(request: request, intent: intent, reader: reader, client: self)
    if intent != .download || isWhole {
      if !isWhole && reader != nil && intent != .cachedOnly { noteOpen(episode) }
      completion(.success(episode))
      return Ended()
    }
    return open(episode, completion: completion)
  }

  /// A reader has failed: its episode's `error` says why.
  func note(_ failure: TransferFailure, ofReading request: TransferRequest) {
    if failure.errno == .EIO { mirror.note(failure.message, of: request) }
  }

  package var steering: Steering { Steering(runtime: places.runtime) }

  package func steer(_ steering: Steering) throws {
    try steering.store(runtime: places.runtime)
    loop.async { self.sendSettings() }
  }

  package func protect(_ keys: [MediaKey]) {
    loop.async {
      if self.settings?.queued == keys { return }
      self.settings?.queued = keys
      self.sendSettings()
    }
  }

  @discardableResult
  package func order(_ order: TransferOrder, completion: @escaping OrderCompletion) -> any Cancellable {
    let number = nextNumber()
    let isTaken = loop.async {
      if self.isStopped { return completion(Self.stopped) }
      // One that no daemon takes does not wait for ever.
      let deadline = self.loop.schedule(at: .after(Self.orderTimeout)) { [weak self] in
        self?.finishOrder(number, TransferFailure(.ETIMEDOUT, "the transfer daemon does not answer"))
      }
      self.orders[number] = (order, completion, deadline)
      self.say(.order(id: number, order))
    }
    if !isTaken { completion(Self.stopped) }
    return Cancellation(self) { $0.finishOrder(number, Self.interrupted) }
  }

  /// Asked of the loop's thread; as of none where that has ended.
  package var underWay: Int {
    let count = Monitor<Int?>(nil)
    let isAsked = loop.async {
      let found = self.opens.count + self.waits.count + self.orders.count + self.snapshot.waiters.count
      count.withLockNotifying { $0 = found }
    }
    return isAsked ? count.wait(until: .after(Self.orderTimeout)) { $0 } ?? 0 : 0
  }

  static let stopped = TransferFailure(.EINTR, "the client has stopped")
  static let interrupted = TransferFailure(.EINTR, "interrupted")

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
    watch = nil
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
      told.withLock { $0.isServed = true }
      sayEverything()
    case .changed(let statuses, let counts):
      told.withLock { $0.counts = counts }
      watchCache()
      if snapshot.coming != nil { snapshot.coming? += statuses } else { mirror.update(statuses) }
    case .snapshotEnd:
      told.withLock { $0.failure = nil }
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
    guard let files = try? FileWatch() else { return }
    watch = (files, nil)
    watchCache()
    let lock = files.add(DaemonPlace.lockFile(in: places.state), .writing)
    loop.watch(files.descriptor, .readable) { [weak self] _ in
      guard let self else { return }
      // nil: any.
      var vanished: Set<MediaKey>? = []
      for event in files.events() {
        if event.watch == lock {
          // Another one, perhaps.
          tries.isResting = false
          connectIfRunning()
        } else if event.isGone || event.isOverflow {
          vanished = nil
          if event.isGone { watch?.cache = nil }
        } else if let key = event.name.flatMap(CacheLayout.parse)?.key {
          vanished?.insert(key)
        }
      }
      watchCache()
      mirror.vanished(vanished)
    }
  }

  /// Watches the cache's folder, also where it is there again after it was deleted.
  private func watchCache() {
    if let watch, watch.cache == nil { self.watch?.cache = watch.files.add(layout.episodes, .vanishing) }
  }

  var greeting: ClientMessage {
    .hello(version: Frames.version, answersAddresses: addressHandler.withLock { $0 != nil })
  }
}

extension TransferClient {
  /// Waits until `allStatuses` is the word of the daemon that runs, or none runs, or `deadline` has passed. Joins a daemon
  /// that has been started meanwhile.
  package func waitUntilCurrent(until deadline: MonotonicTime) {
    let isCurrent = Monitor(false)
    loop.async {
      self.connectIfRunning()
      let isComing = self.connection != nil && (self.welcomed == nil || self.snapshot.coming != nil)
      if isComing || self.snapshot.isWanted {
        self.snapshot.waiters.append { isCurrent.withLockNotifying { $0 = true } }
      } else {
        isCurrent.withLockNotifying { $0 = true }
      }
    }
    _ = isCurrent.wait(until: deadline) { $0 ? true : nil }
  }

  /// The daemon has told all, or has gone.
  func becameCurrent() {
    snapshot.isWanted = false
    let waiters = snapshot.waiters
    snapshot.waiters = []
    for waiter in waiters { waiter() }
  }
}

final class Ended: Cancellable {
  func cancel() {}
}

extension TransferSettings {
  /// Those of a mount's options that the daemon follows.
  init(_ settings: Settings) {
    self.init()
    downloads = Int64(settings.downloads)
    perHost = Int64(settings.perHost)
    limitRate = settings.limitRate
    restsOnMetered = settings.restsOnMetered
    restsBelowCharge = Int64(settings.restsBelowCharge)
    hours = settings.downloadHours
    cacheSize = settings.cacheSize
    minimumFree = settings.minimumFree
    stallTimeout = Int64(settings.stallTimeout * 1000)
    connectTimeout = Int64(settings.connectTimeout * 1000)
    readTimeout = Int64(settings.readTimeout * 1000)
    proxy = settings.proxy
    proxyVariables = settings.proxyVariables
    userAgent = settings.effectiveUserAgent
    certificateAuthorities = settings.certificateAuthorities
  }
}
