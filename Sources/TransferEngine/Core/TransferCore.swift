package import PodcastModel
internal import PosixKit
package import TransferProtocol

/// All downloads: what is wanted, what runs, who waits.
///
/// A value without input or output: events and the time go in, effects come out. It has no clock, file, socket, thread or
/// chance of its own (`seed`). Events change downloads through `change` alone; `settle` then decides what runs, answers
/// readers, tells observers and saves rows.
package struct TransferCore: Hashable {
  enum TimerName: Hashable, Comparable {
    case download(MediaKey)
    case tick, queue, throttle, forget
  }

  enum Phase: Hashable {
    /// The cache may have files that the store does not know.
    case listing
    case running
    /// All is brought to the disk, and nothing begun.
    case stopping
  }

  private struct Outbox: Hashable {
    var effects: [Effect] = []
    /// Answers that wait until observers have heard what they follow from.
    var replies: [Effect] = []
    var isIdle: Bool?
    var wake: Instant?
  }

  var now: Moment
  var settings: TransferSettings
  var downloads: DownloadTable
  /// Clients, and whether each can tell fresh addresses.
  var clients: [ClientID: Bool] = [:]
  var handles: [ClientNumber: MediaKey] = [:]
  var fetches: [FlowID: MediaKey] = [:]
  var files: [StoreID: MediaKey] = [:]
  var scheduler = Scheduler()
  var hosts = Hosts()
  var throttle = Throttle()
  var space = Space()
  var log = CommandLog()
  var timers = TimerQueue<TimerName>()
  var rest: BackgroundRest?
  var random: SplitMix
  var network: Int64 = 0
  var phase = Phase.listing
  /// Whether the store and the cache share a disk. Then removing an episode makes room for the store's rows.
  let isStoreBesideCache: Bool
  private var outbox = Outbox()
  private var lastNumber: UInt64

  /// - Parameter records: those of `rows` that are unfinished, at least.
  package init(
    records: [TransferStatus], rows: StoredRows, settings: TransferSettings,
    rest: BackgroundRest? = nil, isStoreBesideCache: Bool = true, seed: UInt64, now: Moment
  ) {
    self.isStoreBesideCache = isStoreBesideCache
    (self.now, self.rest, self.settings) = (now, rest, settings)
    downloads = DownloadTable(rows)
    // In milliseconds: places of an earlier daemon, also of paused downloads, are lower.
    lastNumber = UInt64(clamping: max(records.lazy.map(\.order).max() ?? 0, now.wallNanoseconds / 1_000_000))
    random = SplitMix(seed: seed)
    throttle.set(rate: settings.limitRate, at: now.instant)
    for record in records where record.isPending {
      change(record.key) { _, download in
        // More of what was running may be here than is remembered.
        if record.state == .downloading { download.mustLook = download.content != .nothing }
      }
    }
  }

  package mutating func start() -> [Effect] {
    // First of all: else downloads begin for which there is no room.
    measureRoom()
    emit(.listFiles)
    timers.add(.forget, at: now.instant.adding(Self.forgetAfter))
    return finish()
  }

  package mutating func handle(_ event: Event, at moment: Moment) -> [Effect] {
    let before = now
    now = moment
    now.instant = max(moment.instant, before.instant)
    // The machine has slept. The connections are dead, but the kernel would report that only after minutes.
    if now.asleep > before.asleep + 10 {
      endResponses()
      networkChanged()
    }
    hear(event)
    for name in timers.takeDue(now.instant) { due(name) }
    return finish()
  }

  /// Ends all responses; what has come goes to the disk. At its end `isAtRest`.
  package mutating func stop(at moment: Moment) -> [Effect] {
    now = moment
    phase = .stopping
    endResponses()
    let effects = finish()
    rest(keysInMemory, forgetting: true)
    return effects + finish()
  }

  package var isAtRest: Bool { files.isEmpty && log.isEmpty }

  /// Whether somebody's wait ends with `count` bytes more of a response.
  package func endsWait(_ count: Int, of id: FlowID) -> Bool {
    guard let download = fetches[id].flatMap({ downloads.active[$0] }), let fetch = download[id] else {
      return false
    }
    let end = fetch.intake.arrived + Int64(count)
    let total = download.openFiles?.representation.total ?? .max
    return download.readers.lazy.flatMap(\.waits).contains {
      fetch.intake.position < $0.range.upperBound && min($0.range.upperBound, total) <= end
    }
  }

  package func status(of key: MediaKey) -> TransferStatus? {
    var status = downloads.status(of: key)
    // What comes behind it in the queue waits for the same.
    if scheduler.isStarving, status?.state == .queued, status?.error == nil, scheduler.isWaiting(key) {
      status?.error = Self.cacheIsFull
    }
    return status
  }

  package var keysInMemory: Set<MediaKey> { Set(downloads.active.keys) }
  package var keys: [MediaKey] { downloads.keys }

  private mutating func hear(_ event: Event) {
    switch event {
    case .joined(let client, let answers): clients[client] = answers
    case .left(let client): leave(client)
    case .said(let client, let message): perform(message, of: client)
    case .head(let id, let head, let firstBytes):
      change(fetches[id]) { core, download in core.heard(head, firstBytes, of: id, &download) }
    case .came(let id, let count): came(count, of: id)
    case .ended(let id, let failure):
      change(fetches[id]) { core, download in core.ended(failure, of: id, &download) }
    case .disk(let id, let answer): answered(answer, by: id)
    case .saved(let failure): saved(failure)
    case .removed(let key, let failure): removed(key, failure)
    case .room(let available): measured(available)
    case .evicted(let names): evicted(names)
    case .found(let found, let missing): sweep(found, missing)
    case .networkChanged: networkChanged()
    case .background(let rest): letBackground(rest)
    // It may have come a little early: the next one is asked for again.
    case .timer: outbox.wake = nil
    }
  }

  private mutating func due(_ name: TimerName) {
    switch name {
    case .download(let key): touch(key)
    case .tick: tick()
    case .queue:
      reconsider()
      if scheduler.isStarving || downloads.bytes > settings.cacheSize { measureRoom() }
      // The queue keeps only its earliest timer: later ones are added again.
      let ends = [hosts.nextEnd(after: now.instant), log.restsUntil, space.restsUntil]
      for next in ends.compactMap(\.self) where next > now.instant { timers.add(.queue, at: next) }
    case .throttle: letGoOfThrottled()
    case .forget: rest(keysInMemory, forgetting: true)
    }
  }

  /// The one way to change a download: takes it out of the table, and puts it back in its new places.
  /// - Parameter isQuiet: whether nothing follows from it by itself; `touch` says otherwise.
  mutating func change(
    _ key: MediaKey?, isQuiet: Bool = false, _ body: (inout TransferCore, inout Download) -> Void
  ) {
    guard let key, var download = downloads.take(key, now: now) else { return }
    body(&self, &download)
    if !isQuiet { touch(&download) }
    put(download)
  }

  private mutating func put(_ download: Download) {
    downloads.put(download)
    scheduler.note(download.key, download.schedulerEntry, isPlaced: download.slot != .none)
  }

  mutating func change(_ request: TransferRequest, _ body: (inout TransferCore, inout Download) -> Void) {
    if downloads.record(of: request.key) == nil {
      put(Download(TransferStatus(request), isStored: false, now: now))
    }
    change(request.key) { core, download in
      download.take(request)
      body(&core, &download)
    }
  }

  mutating func touch(_ download: inout Download) {
    download.isDirty = true
    scheduler.isChanged = true
  }

  mutating func touch(_ key: MediaKey) { change(key) { _, _ in } }

  /// Changes each download in memory that fulfils a condition, in the order of their keys.
  mutating func changeAll(
    where isMeant: (Download) -> Bool = { _ in true },
    _ body: (inout TransferCore, inout Download) -> Void = { _, _ in }
  ) {
    for key in downloads.active.keys.sorted() where downloads.active[key].map(isMeant) ?? false {
      change(key, body)
    }
  }

  /// Those whose responses are under way, in the queue's order.
  var running: [MediaKey] { downloads.inOrder(Set(fetches.values)) }

  /// Whether `time` has come; if not, the download is looked at again then.
  mutating func isPast(_ time: Instant?, for key: MediaKey) -> Bool {
    guard let time, time > now.instant else { return true }
    timers.add(.download(key), at: time)
    return false
  }

  mutating func reconsider() { scheduler.isChanged = true }
  mutating func emit(_ effect: Effect) { outbox.effects.append(effect) }
  mutating func nextPlace() -> Int64 { Int64(clamping: nextNumber()) }

  mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  mutating func answer(_ name: ClientNumber, _ failure: TransferFailure? = nil, generation: UInt32 = 0) {
    if clients[name.client] == nil { return }
    outbox.replies.append(.send(name.client, .answer(name.id, failure, generation: generation)))
  }

  private mutating func finish() -> [Effect] {
    settle()
    if let next = timers.next, next != outbox.wake {
      outbox.wake = next
      emit(.wake(next))
    }
    defer { outbox.effects = [] }
    return outbox.effects
  }

  private mutating func settle() {
    var settled: Set<MediaKey> = []
    // What follows may change others, or the same again; bounded, so that no two can keep each other busy.
    for _ in 0..<Limits.rounds {
      if scheduler.isChanged {
        scheduler.isChanged = false
        assignSlots()
      }
      let dirty = downloads.takeDirty()
      if dirty.isEmpty { break }
      for key in dirty {
        change(key, isQuiet: true) { core, download in
          download.isDirty = false
          core.update(&download)
        }
      }
      settled.formUnion(dirty)
    }
    publish(settled)
    let isStarving = rest == nil && scheduler.placed.contains { downloads.active[$0]?.slot == .cacheFull }
    if scheduler.isStarving != isStarving {
      scheduler.isStarving = isStarving
      emit(.tell(scheduler.waiting))
    }
    commit()
    outbox.effects += outbox.replies
    outbox.replies = []
    rest(settled)
    let isIdle =
      handles.isEmpty && fetches.isEmpty && !downloads.active.values.contains(where: \.isWanted)
    if isIdle != outbox.isIdle {
      outbox.isIdle = isIdle
      emit(.idle(isIdle))
    }
    if !fetches.isEmpty { timers.add(.tick, at: now.instant.adding(1)) }
    if isStarving { timers.add(.queue, at: now.instant.adding(3)) }
    if !downloads.dirty.isEmpty || scheduler.isChanged { timers.add(.queue, at: now.instant) }
  }
}
