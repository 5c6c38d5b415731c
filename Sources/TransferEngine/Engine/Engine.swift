package import PodcastModel
package import TransferProtocol

/// All downloads: what is wanted, what runs, who waits.
///
/// A value without input or output: events and the time go in, effects come out; it has no clock, file, socket,
/// thread or chance of its own (`seed`). Handlers change downloads and `touch` them; `settle` then decides what
/// runs, answers readers, tells observers and remembers.
package final class Engine {
  struct Client {
    var observes: Bool
    var answersAddresses: Bool
  }

  enum TimerName: Hashable {
    case download(MediaKey)
    case address(MediaKey)
    case tick
    case queue
    case room
    case patience
    case throttle
    case save
    case settle
    case forget
  }

  var now: Moment
  var settings: TransferSettings
  var downloads = DownloadTable()
  var clients: [ClientID: Client] = [:]
  var handles: [HandleName: ReaderHandle] = [:]
  var flows: [FlowID: (flow: Flow, download: Download)] = [:]
  /// Whose each open store is.
  var stores: [StoreID: Download] = [:]
  var lastOrder: Int64 = 0
  var lastRevision: Int64 = 0
  var hosts = HostRests()
  var senders = Senders()
  var throttle = Throttle()
  var random: SplitMix
  var timers = TimerQueue<TimerName>()
  var room = Room()
  /// Grows each time that the machine's addresses or routes change.
  var network: Int64 = 0
  /// Until when what the user has freed stays free.
  var lull: Instant?
  var orders = OrderBook()
  /// Generations whose data files are being looked for, and who had them open then: each look, answered in this order.
  var checks: [[MediaKey: (generation: UInt32, store: StoreID?)]] = []
  /// Whether all is to be brought to the disk, and nothing begun.
  private(set) var isStopping = false

  private var effects: [Effect] = []
  private var touched: [MediaKey: Download] = [:]
  /// Whether what may run has to be decided anew.
  private var isQueueChanged = true
  /// Answers that wait until observers have heard what they follow from.
  private var replies: [(client: ClientID, message: DaemonMessage)] = []
  private var wasIdle: Bool?
  private var askedToWake: Instant?
  private var lastNumber: UInt64 = 0

  /// - Parameters:
  ///   - records: what is remembered.
  ///   - untold: of which the journals have not heard the latest.
  ///   - seed: what the engine's chance comes from.
  package init(
    records: [TransferRecord], untold: Set<MediaKey> = [], settings: TransferSettings, seed: UInt64,
    now: Moment
  ) {
    self.now = now
    self.settings = settings
    random = SplitMix(seed: seed)
    throttle.set(rate: settings.limitRate, at: now.instant)
    for record in records {
      let download = Download(record: record, now: now)
      download.saved = record
      download.isUnseen = true
      // What was running is to go on; more of it may be here than is remembered.
      if record.state == .downloading {
        download.record.state = .queued
        download.mustLook = true
      }
      // What has files is told when they are open.
      if untold.contains(record.key) && record.received > 0 { download.mustLook = true }
      downloads.insert(download)
      lastOrder = max(lastOrder, record.order)
      lastRevision = max(lastRevision, record.revision)
    }
  }

  /// Goes on with what was unfinished.
  package func start() -> [Effect] {
    for download in downloads.all.values where download.isBusy { touch(download) }
    noteForgettable(downloads.all.values.filter(\.isToBeForgotten))
    emit(.listFiles)
    return finish()
  }

  /// What follows from an event.
  package func handle(_ event: Event, at moment: Moment) -> [Effect] {
    let before = now
    now = moment
    now.instant = max(moment.instant, before.instant)
    hear(event)
    return finish()
  }

  /// Ends all responses; what has come goes to the disk. At its end `isAtRest`.
  package func stop(at moment: Moment) -> [Effect] {
    now = moment
    isStopping = true
    for (_, entry) in flows.sorted(by: { $0.key < $1.key }) { pump(entry.flow, entry.download, .all) }
    for download in downloads.busyInOrder {
      endFlows(of: download)
      if download.isToBeForgotten { dropForgotten(download) }
      touch(download)
    }
    forgetSome()
    return finish()
  }

  /// Whether everything is on the disk.
  package var isAtRest: Bool { stores.isEmpty && orders.isEmpty }

  /// Whether the store has heard of everything.
  package var isRemembered: Bool { isAtRest && !downloads.all.values.contains(where: \.isUnsaved) }

  /// Whether somebody waits for bytes of the episode that a response is of.
  package func isAwaited(_ flow: FlowID) -> Bool {
    flows[flow]?.download.handles.contains { !$0.waits.isEmpty } ?? false
  }

  package func status(of key: MediaKey) -> TransferStatus? { downloads[key]?.status }

  /// The keys of all that are known.
  package var keys: [MediaKey] { Array(downloads.all.keys) }

  private func hear(_ event: Event) {
    switch event {
    case .joined(let client, let observes, let answers):
      clients[client] = Client(observes: observes, answersAddresses: answers)
    case .left(let client): leave(client)
    case .said(let client, let message): perform(message, of: client)
    case .head(let flow, let head, let firstBytes): heard(head, firstBytes, of: flow)
    case .came(let flow, let count): came(count, of: flow)
    case .ended(let flow, let failure): ended(failure, of: flow)
    case .disk(let store, let answer): answered(answer, by: store)
    case .saved(let save, let failure): saved(save, failure)
    case .removed(let key, let failure): removed(key, failure)
    case .room(let available): measured(available)
    case .evicted(let names): evicted(names)
    case .vanished(let keys): checkCache(keys)
    case .missing(let keys, let lengths): missing(keys, lengths)
    case .found(let files): sweep(files)
    case .damaged(let key, let generation, let ranges): discard(ranges, of: key, generation)
    case .networkChanged: networkChanged()
    // It may have come a little early: asked for again.
    case .timer: askedToWake = nil
    }
    while let name = timers.popDue(now.instant) { due(name) }
  }

  private func due(_ name: TimerName) {
    switch name {
    case .download(let key): if let download = downloads[key] { touch(download) }
    case .address(let key): addressIsOverdue(key)
    case .tick: tick()
    case .queue:
      reconsider()
      if let next = hosts.nextEnd(after: now.instant) { timers.add(.queue, at: next) }
    case .room: lookForRoom()
    case .patience: writeWhatIsOld()
    case .throttle: letGoOfThrottled()
    case .save: saveAgain()
    case .settle: reconsider()
    case .forget: forgetSome()
    }
  }

  func emit(_ effect: Effect) { effects.append(effect) }

  func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Something about `download` has changed: what follows from it is done before `handle` ends.
  /// - Parameter queue: whether it may change what runs; not where a reader only waits or is answered.
  func touch(_ download: Download, queue: Bool = true) {
    touched[download.key] = download
    downloads.rouse(download)
    if queue { isQueueChanged = true }
  }

  /// Has it decided anew what may run.
  func reconsider() { isQueueChanged = true }

  /// Sends `message` after the changes that led to it.
  func reply(_ message: DaemonMessage, to client: ClientID) { replies.append((client, message)) }

  private func finish() -> [Effect] {
    settle()
    if let next = timers.next, next != askedToWake {
      askedToWake = next
      emit(.wake(next))
    }
    defer { effects = [] }
    return effects
  }

  private func settle() {
    if touched.isEmpty && !isQueueChanged && replies.isEmpty && !orders.hasNews { return }
    var settled: [MediaKey: Download] = [:]
    // What follows may touch others, or the same again; bounded, so that no two can keep each other busy.
    for _ in 0..<Limits.rounds {
      if isQueueChanged {
        isQueueChanged = false
        for download in touched.values { downloads.note(download) }
        assignSlots()
      }
      if touched.isEmpty { break }
      let now = touched
      touched = [:]
      // In the queue's order: who comes first asks first.
      for download in now.values.sorted(by: { ($0.record.order, $0.key) < ($1.record.order, $1.key) }) {
        update(download)
        downloads.note(download)
      }
      settled.merge(now) { _, new in new }
    }
    let changed = settled.values.sorted { ($0.record.order, $0.key) < ($1.record.order, $1.key) }
    publish(changed)
    let rested = changed.filter { touched[$0.key] == nil }
    for download in rested { downloads.settle(download) }
    noteForgettable(rested)
    assert(!touched.isEmpty || downloads.isTrue, "something has changed that was not touched")
    let answers = replies
    replies = []
    for (client, message) in answers where clients[client] != nil { emit(.send(client, message)) }
    noteIdleness()
    startTicking()
    watchForRoom()
    if !touched.isEmpty || isQueueChanged { timers.add(.settle, at: now.instant) }
  }

  private func noteIdleness() {
    let isIdle =
      handles.isEmpty && flows.isEmpty && !downloads.busy.values.contains { $0.record.isUnfinished }
    if isIdle != wasIdle {
      wasIdle = isIdle
      emit(.idle(isIdle))
    }
  }
}
