package import Configuration
package import EpisodeCache
internal import Glibc
package import PodcastModel
package import PosixKit
internal import Synchronization
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
    /// Why the client could not reach or start a daemon; nil while one serves, or while none was needed.
    var failure: String?
    var counts = HTTPCounts()
  }

  let loop: EventLoop
  let places: Places
  let mirror: StatusMirror
  let readTimeout: Double
  /// The daemon's program; nil for the one beside this program, else in PATH.
  let program: String?
  let told = Monitor(Told())
  private let lastNumber = Atomic<UInt64>(0)
  private let addressHandler = Monitor<Callback<(MediaKey, String)>?>(nil)

  // The loop's own.
  var settings: TransferSettings?
  var link = Link.none
  /// Tries in a row that found no daemon, or one that hung up at once; and whether none is made for now.
  var tries = (count: 0, isResting: false)
  /// The daemon that this process has started; its descriptor is readable when it has ended.
  var child: (process: Int32, ending: Int32?)?
  /// What has been said to the daemon and holds until it is closed; and what it has still to answer.
  var opens: [UInt64: OpenEntry] = [:]
  var questions: [UInt64: Question] = [:]
  /// Where a wait for bytes of an episode has ended in vain a moment ago.
  var vain: [MediaKey: (offset: Int64, until: MonotonicTime)] = [:]
  var snapshot = Snapshot()
  private var watch: (files: FileWatch, cache: Int32?)?

  /// The connection to the daemon.
  enum Link {
    case none
    /// The daemon has been greeted, and has not answered yet.
    case greeted(FrameSocket<DaemonMessage>)
    case serving(FrameSocket<DaemonMessage>, since: MonotonicTime)
    case stopped
  }

  var connection: FrameSocket<DaemonMessage>? {
    switch link {
    case .greeted(let socket), .serving(let socket, _): socket
    case .none, .stopped: nil
    }
  }
  var isServing: Bool { if case .serving = link { true } else { false } }
  var isStopped: Bool { if case .stopped = link { true } else { false } }

  struct Snapshot {
    /// What has come of it; nil where it is not under way.
    var coming: [TransferStatus]?
    /// Whether it is wanted: the store could not be read.
    var isWanted = false
    var waiters: [@Sendable () -> Void] = []
  }

  /// - Parameters:
  ///   - isMount: whether `settings` are the daemon's from now on, and unfinished downloads go on.
  ///   - daemon: its program.
  /// - Throws: `PosixError`.
  package init(places: Places, settings: Settings, isMount: Bool, daemon: String? = nil) throws {
    let layout = CacheLayout(cache: places.cache, runtime: places.runtime)
    if isMount {
      // Before they are watched.
      try layout.create()
      try Directories.createPrivate(places.state)
      _ = try FileDescriptor(openingRegular: DaemonPlace.lockFile(in: places.state), O_RDWR | O_CREAT)
    }
    (self.places, program) = (places, daemon)
    self.settings = isMount ? TransferSettings(settings) : nil
    readTimeout = settings.readTimeout
    mirror = StatusMirror(layout: layout)
    let known = try? TransferStore(reading: places.state).records()
    mirror.replace(with: known ?? [])
    loop = try EventLoop()
    PosixThread.start("transfers") { [loop] in loop.run() }
    loop.async {
      self.connectIfRunning()
      self.watchFiles()
      // Where the store is lost or can't be read, the daemon knows what the cache holds.
      if known == nil, let names = try? Directories.names(in: layout.episodes), !names.isEmpty {
        self.snapshot.isWanted = true
        self.connect()
      }
    }
    if isMount { resumeUnfinished() }
  }

  deinit { loop.stop() }

  /// Whatever waits ends with EINTR. The daemon goes on.
  package func stop() { loop.async { self.end() } }
  package func resumeUnfinished() { loop.async { if self.mirror.hasUnfinished { self.connect() } } }

  /// Where the daemon keeps the cache: its word, once it has told.
  package var layout: CacheLayout { mirror.layout }

  /// Called, on any thread, when an enclosure's address has expired. To be set before anything is opened.
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
  package var failure: String? { told.withLock { $0.failure } }

  /// Why no daemon serves; nil while one does, or none was needed and the last one could begin.
  package var daemonFailure: String? {
    failure ?? DaemonPlace.failure(in: places.state).map { "the transfer daemon cannot start: \($0)" }
  }

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
      return Cancellation()
    }
    return open(episode, completion: completion)
  }

  package func note(_ failure: TransferFailure, ofReading request: TransferRequest) {
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
    return ask(number, completion) {
      // One that no daemon takes does not wait for ever.
      let deadline = self.loop.schedule(at: .after(Self.orderTimeout)) { [weak self] in
        self?.finish(number, TransferFailure(.ETIMEDOUT, "the transfer daemon does not answer"))
      }
      self.questions[number] = Question(kind: .order(order), deadline: deadline, completion: completion)
      self.say(number)
    }
  }

  private static let orderTimeout = 30.0

  private static let stopped = TransferFailure(.EINTR, "the client has stopped")

  /// Begins, on the loop's thread, what ends with `completion`, unless this client has stopped.
  func ask(
    _ number: UInt64, _ completion: @escaping OrderCompletion, _ begin: @escaping @Sendable () -> Void
  ) -> any Cancellable {
    let isTaken = loop.async { if self.isStopped { completion(Self.stopped) } else { begin() } }
    if !isTaken { completion(Self.stopped) }
    // The loop has begun it by then: it does all in order.
    return Cancellation {
      self.loop.async { self.giveUp(number, TransferFailure(.EINTR, "interrupted")) }
    }
  }

  /// Says what is open, or asked, under a number. Without a connection all that holds is said when there is one.
  func say(_ number: UInt64) {
    guard case .serving(let connection, _) = link else { return connect() }
    switch questions[number]?.kind {
    case .order(let order): connection.send(ClientMessage.order(id: number, order))
    case .wait(let wait):
      connection.send(
        ClientMessage.wait(
          id: number, open: wait.episode.number, offset: wait.offset, count: Int64(wait.count)))
    case .open, nil:
      guard let entry = opens[number] else { return }
      // An open that has no answer yet takes whatever generation there is then.
      let generation = questions[number] == nil ? entry.episode?.generation ?? 0 : 0
      connection.send(
        ClientMessage.open(
          id: number, entry.request, entry.intent, generation: generation > 0 ? generation : nil))
    }
  }

  func finish(_ number: UInt64, _ failure: TransferFailure?) {
    guard let question = questions.removeValue(forKey: number) else { return }
    loop.cancel(question.deadline)
    switch (question.kind, failure) {
    case (.open(let episode), let failure?):
      note(failure, ofReading: episode.request)
      closeNow(number)
    case (.wait(let wait), let failure?): note(failure, ofReading: wait.episode.request)
    default: break
    }
    question.completion(failure)
  }

  /// Ends what the daemon has not answered.
  func giveUp(_ number: UInt64, _ failure: TransferFailure) {
    if case .wait(let wait) = questions[number]?.kind {
      connection?.send(ClientMessage.endWait(id: number, open: wait.episode.number))
    }
    finish(number, failure)
  }

  func endAll(_ failure: TransferFailure) { for number in questions.keys { finish(number, failure) } }

  /// A number that nothing else of this client has or had; from any thread.
  func nextNumber() -> UInt64 { lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

  private func end() {
    if isStopped { return }
    let last = connection
    link = .stopped
    endAll(Self.stopped)
    last?.close()
    leaveChild()
    watch = nil
    becameCurrent()
    loop.stop()
  }

  func received(_ message: DaemonMessage) {
    switch message {
    case .welcome(let version, let cache, let runtime):
      guard isServed(by: version) else { return }
      mirror.layout = CacheLayout(cache: cache, runtime: runtime)
      snapshot.coming = []
      if let connection { link = .serving(connection, since: .now) }
      sayEverything()
    case .changed(let statuses, let counts):
      told.withLock { $0.counts = counts }
      watchCache()
      if snapshot.coming != nil { snapshot.coming? += statuses } else { mirror.update(statuses) }
    case .snapshotEnd:
      let failure = told.withLock { told in
        defer { told.failure = nil }
        return told.failure
      }
      if let failure { mirror.forget(failure) }
      if let all = snapshot.coming { mirror.replace(with: all) }
      snapshot.coming = nil
      becameCurrent()
    case .answer(let id, let failure, let generation):
      if let failure { return finish(id, failure) }
      switch questions[id]?.kind {
      case .order: finish(id, nil)
      case .wait(let wait): available(id, wait)
      case .open, nil: opened(id, generation)
      }
    case .needAddress(let key, let url):
      if let handler = addressHandler.withLock({ $0 }) {
        handler((key, url))
      } else {
        connection?.send(ClientMessage.freshAddress(key, nil))
      }
    }
  }

  /// Hears of episodes that somebody deletes from the cache, and of a daemon that another client starts.
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
  /// Waits until `allStatuses` is the word of the daemon that runs, or none runs.
  /// - Returns: whether a daemon has told all by `deadline`.
  @discardableResult
  package func waitUntilCurrent(until deadline: MonotonicTime) -> Bool {
    let isTold = Monitor<Bool?>(nil)
    loop.async {
      self.connectIfRunning()
      let isComing = self.connection != nil && (!self.isServing || self.snapshot.coming != nil)
      self.snapshot.waiters.append { [self] in isTold.withLockNotifying { $0 = isServing } }
      if !isComing && !self.snapshot.isWanted { self.becameCurrent() }
    }
    return isTold.wait(until: deadline) { $0 } ?? false
  }

  func becameCurrent() {
    snapshot.isWanted = false
    let waiters = snapshot.waiters
    snapshot.waiters = []
    for waiter in waiters { waiter() }
  }
}

/// Gives up an open, a wait or an order; one that has ended as it began needs nothing for that.
final class Cancellation: Cancellable {
  private let giveUp: @Sendable () -> Void

  init(_ giveUp: @escaping @Sendable () -> Void = {}) { self.giveUp = giveUp }

  func cancel() { giveUp() }
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
