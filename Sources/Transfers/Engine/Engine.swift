internal import EpisodeCache
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

/// All downloads: what is wanted, what runs, who waits.
///
/// Everything of it, and of what it keeps, happens on its loop's thread; that makes it Sendable. Handlers
/// change downloads and `touch` them; `settle` then, once for many changes, decides what runs, answers
/// readers, tells observers and remembers.
final class Engine: @unchecked Sendable {
  let loop: EventLoop
  let layout: CacheLayout
  let http: HTTPClient
  let disk: DiskQueue
  let throttle = Throttle()
  var settings: TransferSettings
  var downloads = DownloadTable()
  var clients: [ObjectIdentifier: any EngineClient] = [:]
  /// Reader handles by client and number.
  var handles: [HandleName: (handle: ReaderHandle, download: Download)] = [:]
  var lastOrder: Int64 = 0
  var hosts = HostRests()

  private var touched: [MediaKey: Download] = [:]
  /// Whether what may run has to be decided anew.
  private var isQueueChanged = true
  /// Answers that wait until observers have heard what they follow from.
  private var replies: [(client: ObjectIdentifier, message: DaemonMessage)] = []
  private var isSettling = false
  private var isTicking = false
  var isWatchingForRoom = false
  /// Called when there is nothing to do any more, and when there is again.
  var idlenessChanged: (Bool) -> Void = { _ in }
  private var wasIdle: Bool?
  /// Hears of deleted files; the folder may have been deleted and made again.
  var cacheWatch: CacheWatch?

  struct HandleName: Hashable {
    var client: ObjectIdentifier
    var id: UInt64
  }

  init(
    loop: EventLoop, layout: CacheLayout, http: HTTPClient, store: consuming sending TransferStore,
    log: LogFile
  ) throws {
    self.loop = loop
    self.layout = layout
    self.http = http
    settings = try store.settings() ?? TransferSettings()
    throttle.set(rate: settings.limitRate)
    for record in try store.records() {
      let download = Download(record: record)
      // What was running is to go on.
      if record.state == .downloading { download.record.state = .queued }
      download.retryAt = download.forbiddenUntil
      downloads.insert(download)
      lastOrder = max(lastOrder, record.order)
    }
    disk = DiskQueue(store, log: log)
  }

  /// Goes on with what was unfinished.
  func start() {
    for download in downloads.all.values where download.isBusy { touch(download) }
    scheduleSettling()
  }

  /// Something about `download` has changed: what follows from it is done before the loop sleeps.
  /// - Parameter queue: whether it may change what runs; not where a reader only waits or is answered.
  func touch(_ download: Download, queue: Bool = true) {
    touched[download.key] = download
    downloads.rouse(download)
    if queue { isQueueChanged = true }
    scheduleSettling()
  }

  /// Has it decided anew what may run.
  func reconsider() {
    isQueueChanged = true
    scheduleSettling()
  }

  /// Sends `message` after the changes that led to it.
  func reply(_ message: DaemonMessage, to client: ObjectIdentifier) {
    replies.append((client, message))
    scheduleSettling()
  }

  private func scheduleSettling() {
    if isSettling { return }
    isSettling = true
    loop.async { self.settle() }
  }

  private func settle() {
    isSettling = false
    var settled: [MediaKey: Download] = [:]
    // What follows may touch others, or the same again; bounded, so that no two can keep each other busy.
    for _ in 0..<8 {
      if isQueueChanged {
        isQueueChanged = false
        assignSlots()
      }
      if touched.isEmpty { break }
      let now = touched
      touched = [:]
      // In the queue's order: who comes first asks first.
      for download in now.values.sorted(by: { $0.record.order < $1.record.order }) { update(download) }
      settled.merge(now) { _, new in new }
    }
    publish(settled.values)
    for download in settled.values where touched[download.key] == nil { downloads.settle(download) }
    let answers = replies
    replies = []
    for (client, message) in answers { clients[client]?.send(message) }
    setRateLimits()
    noteIdleness()
    startTicking()
    watchForRoom()
    if !touched.isEmpty || isQueueChanged { scheduleSettling() }
  }

  /// Tells observers and the store what is new.
  private func publish(_ changed: some Sequence<Download>) {
    var statuses: [TransferStatus] = []
    var records: [TransferRecord] = []
    for download in changed {
      let status = download.status
      if !status.isSame(as: download.published) || download.isProgressDue {
        if status.isNews(after: download.published) {
          download.record.changed = wallClockSeconds()
          if let line = status.logLine(after: download.published) { disk.write(line) }
        }
        download.published = download.status
        statuses.append(download.status)
      }
      download.isProgressDue = false
      if download.record != download.saved {
        download.saved = download.record
        records.append(download.record)
      }
    }
    if !records.isEmpty { disk.save(records) }
    if !statuses.isEmpty {
      for client in clients.values where client.observes { client.send(.changed(statuses)) }
    }
  }

  private func noteIdleness() {
    let isIdle =
      handles.isEmpty
      && !downloads.busy.values.contains { $0.record.isUnfinished || !$0.flows.isEmpty }
    if isIdle != wasIdle {
      wasIdle = isIdle
      idlenessChanged(isIdle)
    }
  }

  /// Once a second while bytes come: rates and progress.
  private func startTicking() {
    guard !isTicking, downloads.busy.values.contains(where: { !$0.flows.isEmpty }) else { return }
    isTicking = true
    loop.schedule(at: .after(1)) { self.tick() }
  }

  private func tick() {
    isTicking = false
    watchRoom()
    for download in downloads.busy.values where !download.flows.isEmpty {
      for (flow, _) in download.flows { flow.measure() }
      if let writer = download.writer {
        download.meter.note(writer.received)
        if writer.claimSynchronization(after: 0) { synchronize(download, writer) }
      }
      download.isProgressDue = true
      touch(download, queue: false)
    }
  }

  /// Brings what came to the disk, then remembers how much it is.
  func synchronize(_ download: Download, _ writer: EpisodeWriter) {
    let key = download.key
    disk.synchronize(writer) { error in
      self.loop.async { self.synchronized(key, writer, error) }
    }
  }

  private func synchronized(_ key: MediaKey, _ writer: EpisodeWriter, _ error: PosixError?) {
    guard let download = downloads[key], download.writer === writer else { return }
    if let error {
      fail(download, error)
    } else {
      download.record.received = writer.received
    }
    touch(download, queue: false)
  }

  /// Ends all responses and brings everything to the disk.
  func stop() {
    for download in downloads.busy.values {
      for (flow, task) in download.flows {
        flow.close()
        task.cancel()
      }
      download.flows = []
      if let writer = download.writer {
        download.record.received = writer.received
        disk.synchronize(writer) { _ in }
      }
      disk.save([download.record])
    }
    http.stop()
    disk.stop()
  }
}

extension TransferStatus {
  /// Equal but for what changes all the time while bytes come.
  fileprivate func isSame(as other: TransferStatus?) -> Bool {
    guard var other else { return false }
    (other.received, other.rate, other.eta, other.changed) = (received, rate, eta, changed)
    return self == other
  }

  /// What the log says of the change; nil where it is of the usual course.
  fileprivate func logLine(after other: TransferStatus?) -> String? {
    let what = "\(show) – \(title)"
    if let other, other.generation > 0, generation > other.generation {
      return "the server has another file for \(what): begun anew"
    }
    guard let error, error != other?.error || state != other?.state else { return nil }
    switch state {
    case .failed: return "cannot download \(what): \(error)"
    case .paused: return "waiting with \(what): \(error)"
    case .remote, .queued, .downloading, .cached: return nil
    }
  }

  /// Whether `changed` moves.
  fileprivate func isNews(after other: TransferStatus?) -> Bool {
    other.map { $0.state != state || $0.generation != generation || $0.error != error } ?? true
  }
}
