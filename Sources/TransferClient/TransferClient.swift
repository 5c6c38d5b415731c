package import Configuration
internal import EpisodeCache
internal import Glibc
package import PodcastModel
package import PosixKit
package import TransferProtocol
internal import TransferStore

/// The transfers as a mount or a command sees them: what is remembered while no daemon runs, and the daemon,
/// started when something is wanted.
package final class TransferClient: TransferService {
  let session: ClientSession
  private let mirror: StatusMirror
  private let readTimeout: Double

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
    readTimeout = settings.readTimeout
    mirror = StatusMirror(layout: layout)
    let store = try? TransferStore(reading: places.state)
    let known = try? store?.records()
    mirror.replace(with: known ?? [])
    session = try ClientSession(
      places: places, settings: isMount ? TransferSettings(settings) : nil, mirror: mirror, daemon: daemon)
    session.start()
    // Where the store is lost or can't be read, the daemon knows what the cache holds.
    if known == nil, !layout.isEmpty || access(TransferStore.path(in: places.state), F_OK) == 0 {
      session.askForAll()
    }
    if isMount { resumeUnfinished() }
  }

  deinit { session.stop() }

  /// Ends the connection; whatever waits ends with EINTR. The daemon goes on.
  package func stop() { session.stop() }

  package func resumeUnfinished() { session.resumeUnfinished() }

  /// Called, on any thread, when an enclosure's address has expired: to look for a fresh one and tell it by
  /// `freshAddress`. To be set before anything is opened.
  package func setAddressHandler(_ handler: @escaping @Sendable (MediaKey, _ expired: String) -> Void) {
    session.setAddressHandler(handler)
  }

  /// The answer to the address handler; nil where there is no other address.
  package func freshAddress(_ key: MediaKey, _ url: String?) { session.send(.freshAddress(key, url)) }

  package func status(of key: MediaKey) -> TransferStatus? {
    mirror.status(of: key)
  }

  package func allStatuses() -> [TransferStatus] { mirror.all() }

  package var httpCounts: HTTPCounts { mirror.httpCounts }

  package func observe(_ observer: @escaping @Sendable (MediaKey) -> Void) { mirror.observe(observer) }

  package func open(
    _ request: TransferRequest, intent: OpenIntent,
    completion: @escaping @Sendable (Result<any OpenEpisode, TransferFailure>) -> Void
  ) -> any Cancellable {
    let status = mirror.status(of: request.key)
    var reader: EpisodeReader?
    if let status, status.generation > 0, status.received > 0 {
      reader = try? EpisodeReader(session.layout, request.key, status.generation)
    }
    let isWhole = reader?.isWhole ?? false
    reader?.noteRead()
    let episode = RemoteEpisode(
      request: request, intent: intent, reader: reader, session: session, readTimeout: readTimeout)
    if intent != .download || isWhole {
      if !isWhole && reader != nil && intent != .cachedOnly { session.noteOpen(episode) }
      completion(.success(episode))
      return Ended()
    }
    return session.open(episode, completion: completion)
  }

  package func log(_ failure: TransferFailure, ofReading request: TransferRequest) {
    session.loop.async { [session] in session.tell(failure, "read", request) }
  }

  /// Calls `completion` once, on any thread, when `allStatuses` is the word of the daemon that runs, or when
  /// none runs. Joins a daemon that has been started meanwhile.
  package func whenCurrent(_ completion: @escaping @Sendable () -> Void) { session.whenCurrent(completion) }

  /// Waits until `allStatuses` is that, or `deadline` has passed.
  package func waitUntilCurrent(until deadline: MonotonicTime) {
    let isCurrent = Monitor(false)
    whenCurrent { isCurrent.withLockNotifying { $0 = true } }
    _ = isCurrent.wait(until: deadline) { $0 ? true : nil }
  }

  package var underWay: Int { session.underWay }

  package var steering: Steering { Steering(runtime: session.places.runtime) }

  package func steer(_ steering: Steering) throws {
    try steering.store(runtime: session.places.runtime)
    session.saySettings()
  }

  package var isServed: Bool { session.isServed }

  @discardableResult
  package func order(_ order: TransferOrder, completion: @escaping OrderCompletion) -> any Cancellable {
    session.order(order, completion)
  }

  package func protect(_ keys: [MediaKey]) {
    session.loop.async { [session] in
      guard var settings = session.settings, settings.queued != keys else { return }
      settings.queued = keys
      session.settings = settings
      session.sendSettings()
    }
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
