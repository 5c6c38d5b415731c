package import Catalog
package import Configuration
internal import Glibc
package import HTTPKit
package import PodcastModel
internal import PosixKit

/// Who wants a synchronization.
package enum SyncCause: Hashable, Sendable {
  /// The mount's process, because it is time or something has changed.
  case automatic
  /// A person.
  case asked
}

/// What came of a synchronization, or would come of one.
package struct SyncOutcome: Hashable, Sendable {
  package var host = ""
  package var kind = SyncSettings.Kind.gpodder
  /// All of the server's actions were read.
  package var isWhole = false
  /// Subscriptions that came from the server, and that went because another device has ended them.
  package var added: [WebAddress] = []
  package var removed: [WebAddress] = []
  /// Episodes that got another device's state.
  package var episodes = 0
  /// What the server was told.
  package var uploadedFeeds = 0
  package var removedFeeds = 0
  package var uploadedEpisodes = 0
  /// Reports of episodes that are not known yet.
  package var awaited = 0
}

/// One synchronization, on the calling thread.
package struct SyncRun: Sendable {
  private let catalog: Catalog
  private let places: Places
  private let settings: Settings
  private let sync: SyncSettings
  private let http: HTTPClient
  private let now: @Sendable () -> Int64

  /// Seconds by which actions are read again: servers compare with the time of an action, not with that of its upload, so
  /// that what a device uploads late stays invisible otherwise.
  private static let overlap: Int64 = 30 * 86_400
  /// Seconds after which all actions are read.
  private static let wholePeriod: Int64 = 7 * 86_400

  /// - Parameter now: seconds since 1970.
  package init(
    catalog: Catalog, places: Places, settings: Settings, sync: SyncSettings, http: HTTPClient,
    now: @escaping @Sendable () -> Int64
  ) {
    self.catalog = catalog
    self.places = places
    self.settings = settings
    self.sync = sync
    self.http = http
    self.now = now
  }

  private var accountName: String { "\(sync.url) \(sync.user ?? "")" }

  /// - Parameters:
  ///   - isWhole: reads all that the server has.
  ///   - isDry: changes nothing, here or there.
  /// - Returns: nil where it is not to be done now, which happens to automatic ones only.
  package func run(_ cause: SyncCause, isWhole: Bool = false, isDry: Bool = false) throws -> SyncOutcome? {
    if let reason = reasonToWait(try account(), cause) {
      if cause == .automatic { return nil }
      throw reason
    }
    guard let lock = try SyncLock.take(places, waits: cause == .asked) else { return nil }
    defer { lock.release() }
    do {
      return try exchange(try account(), isWhole: isWhole, isDry: isDry)
    } catch {
      if !isDry { try note(error) }
      throw error
    }
  }

  private func account() throws -> SyncAccount {
    guard let account = try catalog.syncAccount(), account.name == accountName else {
      return SyncAccount(name: accountName)
    }
    return account
  }

  private func reasonToWait(_ account: SyncAccount, _ cause: SyncCause) -> SyncError? {
    let host = WebAddress(sync.url).host ?? "the server"
    if sync.user == nil {
      return SyncError(
        "no user: give the [sync] section the keys user and password, or run podcastfs sync login")
    }
    let isSameSecret = account.refused == sync.digest && (sync.passwordCommand == nil || cause == .automatic)
    if account.refused != nil, isSameSecret {
      return SyncError(.refused, account.error ?? "\(host) has refused the user name or password")
    }
    // A person is not held back.
    let wait = wait(account)
    if cause == .automatic, wait > 0 {
      return SyncError(.busy(wait), "\(host) asks to wait until \(CivilTime.iso8601(now() + wait))")
    }
    return nil
  }

  /// Seconds for which the server wishes not to be asked; 0 where it may be.
  package var wait: Int64 { (try? account()).map { wait($0) } ?? 0 }

  private func wait(_ account: SyncAccount) -> Int64 {
    let wait = (account.notBefore ?? 0) - now()
    return (1...Self.longestWait).contains(wait) ? wait : 0
  }

  /// Seconds, whatever a server asks for. A clock that was set back makes longer ones.
  private static let longestWait: Int64 = 3600

  /// Keeps why it failed.
  private func note(_ error: any Error) throws {
    try catalog.changeSyncAccount(accountName) { account in
      account.error = "\(error)"
      switch (error as? SyncError)?.kind {
      case .refused: account.refused = sync.digest
      case .busy(let seconds): account.notBefore = now() + min(max(seconds, 1), Self.longestWait)
      default: break
      }
    }
  }

  private func exchange(_ account: SyncAccount, isWhole: Bool, isDry: Bool) throws -> SyncOutcome {
    let requests = SyncRequests(
      http: http, settings: settings, url: sync.url, user: sync.user, password: try sync.secret(), now: now)
    let server = try server(account, requests, isDry: isDry)
    let scope = scope(account, isWhole: isWhole)
    let news = try server.subscriptions(since: scope == .changes ? account.subscriptionsSince ?? 0 : 0)
    let since = scope == .changes ? max((account.actionsSince ?? 0) - Self.overlap, 0) : 0
    let actions = try server.actions(since: since)
    var outcome = SyncOutcome(host: requests.host, kind: server.kind, isWhole: scope != .changes)
    let merge = SyncMerge(
      news: news, scope: scope, reports: actions.reports,
      hasAllReports: scope != .changes && actions.isComplete, uploadsAll: sync.feeds == .all,
      margin: settings.playedMargin, isPrivate: requests.isPrivate, clock: server.clock, now: now())
    let merged =
      try isDry
      ? catalog.readSync { try merge.plan($0) } : catalog.changeSync { try merge.apply(&$0) }
    outcome.take(merged)
    if isDry { return outcome }
    let feeds = try upload(merged.subscriptions, to: server)
    outcome.uploadedEpisodes = try upload(merged.episodes, of: feeds, to: server)
    try catalog.changeSyncAccount(accountName) { account in
      account.subscriptionsSince = news.time
      account.actionsSince = actions.time
      if scope != .changes { account.wholeRead = actions.time }
      (account.last, account.error, account.notBefore, account.refused) = (now(), nil, nil, nil)
    }
    let (added, removed, episodes) = (outcome.added.count, outcome.removed.count, outcome.episodes)
    try catalog.changeSync { $0.noteSynchronized(added: added, removed: removed, episodes: episodes) }
    return outcome
  }

  private func scope(_ account: SyncAccount, isWhole: Bool) -> SubscriptionPlan.Scope {
    guard account.subscriptionsSince != nil, let wholeRead = account.wholeRead,
      let last = account.actionsSince
    else {
      return .first
    }
    // The server's clock may have been ahead.
    return isWhole || !(0..<Self.wholePeriod).contains(last - wholeRead) ? .whole : .changes
  }

  private func server(
    _ account: SyncAccount, _ requests: SyncRequests, isDry: Bool
  ) throws -> SyncServer {
    let user = sync.user ?? ""
    let known = sync.kind ?? account.kind.flatMap { SyncSettings.Kind(rawValue: $0) }
    let kind = try known ?? SyncServer.ask(requests, user: user)
    let server = SyncServer(kind: kind, requests: requests, user: user, device: sync.effectiveDevice)
    if isDry || account.hasDevice && account.kind == kind.rawValue { return server }
    try server.introduce()
    try catalog.changeSyncAccount(accountName) { account in
      (account.kind, account.hasDevice) = (kind.rawValue, true)
    }
    return server
  }

  /// - Returns: the feeds that the server has, by podcast, as it writes their addresses.
  private func upload(
    _ plan: SubscriptionPlan, to server: SyncServer
  ) throws -> [Int64: WebAddress] {
    if !plan.add.isEmpty || !plan.remove.isEmpty {
      let updated = try server.upload(add: plan.add.map(\.url), remove: plan.remove.map(\.url))
      try catalog.changeSync { rows in
        for var feed in plan.add {
          let other = updated[feed.url.forRequest]
          if other == "" { feed.state = .refused }
          if let other, !other.isEmpty { feed.url = WebAddress(other) }
          try rows.save(feed)
        }
        for feed in plan.remove { try rows.remove(feed) }
      }
    }
    return try catalog.readSync { rows in
      let common = try rows.serverFeeds().filter { $0.state != .refused }
      let byKey = Dictionary(common.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
      var feeds: [Int64: WebAddress] = [:]
      for feed in try rows.followedFeeds() {
        // Told of any other podcast, some servers follow it.
        feeds[feed.podcast] = feed.keys.lazy.compactMap { byKey[$0]?.url }.first
      }
      return feeds
    }
  }

  private func upload(
    _ plan: EpisodePlan, of feeds: [Int64: WebAddress], to server: SyncServer
  ) throws -> Int {
    let uploads = plan.uploads.compactMap { episode, state -> (Int64, ExchangedState, JSONValue)? in
      guard let feed = feeds[episode.podcast] else { return nil }
      let address = sync.feeds == .all ? episode.address : episode.address.withoutSecrets
      guard let address else { return nil }
      return (
        episode.id, state,
        ServerAction.json(
          of: episode, state, feed: feed, address: address, device: server.deviceInActions,
          hasNew: server.hasNew)
      )
    }
    var done = 0
    try server.upload(uploads.map(\.2)) { sent in
      try catalog.changeSync { rows in
        for upload in uploads[done..<sent] { try rows.save(upload.1, of: upload.0) }
      }
      done = sent
    }
    return done
  }
}

/// One synchronization of a user at a time: mounts and commands share the catalogue.
private struct SyncLock: ~Copyable {
  private let file: FileDescriptor

  /// Seconds that a person waits for a synchronization of another process.
  private static let patience = 120.0

  /// - Throws: where another process goes on synchronizing.
  static func take(_ places: Places, waits: Bool) throws -> SyncLock? {
    let file = try FileDescriptor(opening: places.state + "/sync.lock", O_RDWR | O_CREAT, mode: 0o600)
    let deadline = MonotonicTime.after(patience)
    while !file.tryLock(.exclusive) {
      if !waits { return nil }
      guard .now < deadline else { throw SyncError("another process synchronizes") }
      usleep(50_000)
    }
    return SyncLock(file: file)
  }

  func release() { file.unlock() }
}
