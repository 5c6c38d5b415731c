internal import PodcastModel
internal import TransferProtocol

/// Records on their way to the disk, and orders that wait for them.
struct OrderBook {
  struct Order {
    var client: ClientID
    var id: UInt64
    var key: MediaKey
    /// How things were, to go back to where the order can't be remembered; nil where it is done all the same.
    var before: TransferRecord?
    /// Whether what is dropped may make the room that the store lacks: then it is tried once more.
    var triesAgain = false
    /// Whether it is done when no reader gets what it told of any more.
    var awaitsDiscard = false
    /// What must be on the disk before it is confirmed.
    var save: SaveID?
    /// Why files that were to go are still there.
    var failure: TransferFailure?
  }
  /// Since the last time that records were given to the disk.
  var new: [Order] = []
  var waiting: [Order] = []
  /// Those whose rows may differ from what was given to the disk, each with a number that grows.
  var changed: [MediaKey: UInt64] = [:]
  /// Those that are tried again when the names of their files have been taken away.
  var afterRemoval: [Order] = []
  /// What is on its way to the disk, with its rows: one commit at a time. What is ordered meanwhile is one more, however
  /// slow the disk: an order waits for two at the most.
  var saving: (id: SaveID, keys: Set<MediaKey>)?
  /// Generations whose names are being taken away.
  var removals: [MediaKey: Int] = [:]
  /// Rows to be deleted.
  var forgotten: [MediaKey] = []

  /// Whether something is to be given to the disk now.
  var hasNews: Bool { saving == nil && !(new.isEmpty && changed.isEmpty && forgotten.isEmpty) }

  var isEmpty: Bool { saving == nil && removals.isEmpty }
}

// What is told and remembered.
extension Engine {
  /// Tells observers and the store what is new.
  func publish(_ changed: [Download]) {
    var news: [MediaKey] = []
    for download in changed {
      let status = download.status
      // At the end of what came, short as it was.
      let isCountDue = download.flows.isEmpty && status.received != download.published?.received ?? 0
      if !status.isSame(as: download.published) || download.isProgressDue || isCountDue {
        if status.isNews(after: download.published) {
          download.record.changed = now.wall
          if status.state.stage != download.published?.state.stage ?? .remote {
            download.moment = now.wallNanoseconds
          }
          if let line = status.logLine(after: download.published) { emit(.log(line)) }
          logWait(of: download, status)
        }
        download.published = download.status
        news.append(download.key)
      }
      download.isProgressDue = false
      revise(download)
      note(download)
      if download.flows.isEmpty { download.record.received = download.received }
      download.record.attempts = Int64(download.backoff.attempts)
      if download.isWorthSaving && orders.changed[download.key] == nil {
        orders.changed[download.key] = nextNumber()
      }
    }
    if !news.isEmpty { emit(.tell(news)) }
    save()
  }

  /// Gives what has been ordered, or let go of, since the last time a number, by which it is known from what was ordered
  /// before. It is the wall clock's where that goes right: also a store that knows nothing of before gives none again.
  ///
  /// Not while the store is told that it is still to come: its journal must not seem to know better.
  func revise(_ download: Download) {
    let facts = download.record.noteHash
    let isOrdered = facts != download.numbered && download.row.state == download.record.state
    guard isOrdered || download.hasLetGo else { return }
    download.hasLetGo = false
    download.numbered = facts
    lastRevision = max(lastRevision + 1, now.wallNanoseconds / 1_000_000)
    download.record.revision = lastRevision
  }

  /// Tells in the log, once for each reason, of a download that waits for what heals only by somebody's doing: room in
  /// the cache, or the proxy.
  private func logWait(of download: Download, _ status: TransferStatus) {
    switch status.state {
    case .downloading: return
    case .queued:
      guard let error = status.error, error != download.loggedWait,
        // As all messages of a proxy that is away have it.
        error == Self.cacheIsFull || error.contains("the proxy ")
      else { return }
      download.loggedWait = error
      emit(.log("waiting with \(status.show) – \(status.title): \(error)"))
    case .remote, .paused, .failed, .cached: download.loggedWait = nil
    }
  }

  /// Gives the disk what has changed since the last time, unless it is still busy with that.
  private func save() {
    if orders.hasNews {
      let due = takeDue()
      let records = due.map { download in
        let row = download.row
        download.saved = row
        download.isUnsaved = false
        return row
      }
      let keys = Set(due.map(\.key))
      // What is remembered again is not to go.
      orders.forgotten.removeAll { keys.contains($0) }
      let removed = Array(orders.forgotten.prefix(Limits.rowsAtOnce))
      orders.forgotten.removeFirst(removed.count)
      if !records.isEmpty || !removed.isEmpty {
        let id = SaveID(nextNumber())
        emit(.save(id, records, removing: removed))
        orders.saving = (id, keys)
      }
      // They follow from all that was given to the disk so far.
      for var order in orders.new {
        order.save = orders.saving?.id
        orders.waiting.append(order)
      }
      orders.new = []
    }
    answerOrders()
  }

  /// Whose rows go into the next commit: all that was ordered, and of the rest those that have waited longest.
  private func takeDue() -> [Download] {
    let ordered = Set(orders.new.map(\.key))
    var due: [Download] = []
    var others: [(download: Download, number: UInt64)] = []
    for (key, number) in orders.changed.sorted(by: { $0.value < $1.value }) {
      guard let download = downloads[key], download.isWorthSaving else { continue }
      if ordered.contains(key) { due.append(download) } else { others.append((download, number)) }
    }
    due += others.prefix(Limits.rowsAtOnce).map(\.download)
    let left = others.dropFirst(Limits.rowsAtOnce).map { ($0.download.key, $0.number) }
    orders.changed = Dictionary(uniqueKeysWithValues: left)
    return due
  }

  /// Says `done` once what was ordered is remembered.
  /// - Parameter before: how things were; nil where nothing need be remembered: what is on the disk says it.
  /// - Parameter triesAgain: whether it may make room for itself.
  /// - Parameter awaitsDiscard: whether no reader may get what was found damaged from then on.
  func confirm(
    _ id: UInt64, _ client: ClientID, _ key: MediaKey, before: TransferRecord?, triesAgain: Bool = false,
    awaitsDiscard: Bool = false
  ) {
    if id == 0 { return }
    orders.new.append(
      OrderBook.Order(
        client: client, id: id, key: key, before: before, triesAgain: triesAgain, awaitsDiscard: awaitsDiscard
      ))
    // Also where nothing changes.
    if let download = downloads[key] { touch(download, queue: false) }
  }

  private func answerOrders() {
    if orders.waiting.isEmpty { return }
    var left: [OrderBook.Order] = []
    for order in orders.waiting {
      let isSaved = order.save == nil || order.save != orders.saving?.id
      let isDiscarded = !order.awaitsDiscard || downloads[order.key]?.isDiscarding != true
      if isSaved && isDiscarded && orders.removals[order.key] == nil {
        if let failure = order.failure {
          reply(.refused(id: order.id, failure), to: order.client)
        } else {
          reply(.done(id: order.id), to: order.client)
        }
      } else {
        left.append(order)
      }
    }
    orders.waiting = left
  }

  func saved(_ id: SaveID, _ failure: TransferFailure?) {
    guard let keys = orders.saving?.keys, orders.saving?.id == id else { return }
    orders.saving = nil
    if let failure {
      for key in keys { downloads[key]?.isUnsaved = true }
      timers.add(.save, at: now.instant.adding(5))
      // Also what was ordered since and builds on it.
      let isConcerned = { (order: OrderBook.Order) in order.save == id || keys.contains(order.key) }
      let concerned = (orders.waiting + orders.new).filter(isConcerned)
      orders.waiting.removeAll(where: isConcerned)
      orders.new.removeAll(where: isConcerned)
      // The last one first: each goes back to how it was.
      for order in concerned.reversed() where !order.triesAgain { takeBack(order) }
      for var order in concerned {
        order.save = nil
        if order.triesAgain {
          order.triesAgain = false
          orders.afterRemoval.append(order)
        } else if order.before != nil {
          reply(.refused(id: order.id, failure), to: order.client)
        } else {
          orders.waiting.append(order)
          flushNames(of: order.key)
        }
      }
      tryAgain()
    }
    answerOrders()
  }

  /// Tries again with what was dropped, where its files are gone.
  private func tryAgain() {
    let removals = orders.removals
    let ready = orders.afterRemoval.filter { removals[$0.key] == nil }
    orders.afterRemoval.removeAll { removals[$0.key] == nil }
    for order in ready {
      orders.new.append(order)
      if let download = downloads[order.key] { touch(download, queue: false) }
    }
  }

  /// Tries again with records that could not be stored.
  func saveAgain() {
    for download in downloads.all.values where download.isUnsaved { touch(download, queue: false) }
  }

  /// Takes the names of a generation's files away.
  func remove(_ key: MediaKey, _ generation: UInt32) {
    orders.removals[key, default: 0] += 1
    emit(.remove(key, generation: generation))
  }

  /// What only its files tell of is done when the disk knows that they are gone.
  private func flushNames(of key: MediaKey) {
    orders.removals[key, default: 0] += 1
    emit(.flushNames(key))
  }

  /// Drops what is to be forgotten, and what that leaves behind.
  func dropForgotten(_ download: Download) {
    drop(download)
    orders.removals[download.key, default: 0] += 1
    emit(.forgetFormer(download.key))
  }

  func removed(_ key: MediaKey, _ failure: TransferFailure?) {
    if let failure { notRemoved(key, failure) }
    let left = (orders.removals[key] ?? 1) - 1
    orders.removals[key] = left > 0 ? left : nil
    if left <= 0, let download = downloads[key] { judgeWaiting(of: download) }
    tryAgain()
    answerOrders()
  }

  /// The files are still there, as on a disk that has become read-only: they count as before.
  private func notRemoved(_ key: MediaKey, _ failure: TransferFailure) {
    for list in [\OrderBook.new, \.waiting, \.afterRemoval] {
      for index in orders[keyPath: list].indices where orders[keyPath: list][index].key == key {
        orders[keyPath: list][index].failure = failure
      }
    }
    guard let download = downloads[key], let dropped = download.dropped, download.store == nil,
      download.record.generation == dropped.generation
    else { return }
    download.record.received = dropped.received
    download.hasFiles = nil
    if dropped.isCached && download.record.state == .remote { download.record.state = .cached }
    touch(download)
  }

  /// Something rests that may be forgotten when everybody has heard of it.
  func noteForgettable(_ rested: [Download]) {
    if rested.contains(where: \.isForgettable) { timers.add(.forget, at: now.instant.adding(60)) }
  }

  /// Forgets what holds nothing: all whose size is not even known, what is to be forgotten, and the oldest of too many.
  func forgetSome() {
    let rows = downloads.all.values.filter(\.isForgettable)
    var kept: [Download] = []
    for download in rows {
      if download.isToBeForgotten || download.record.total == nil && download.record.generation == 0 {
        forget(download)
      } else {
        kept.append(download)
      }
    }
    if kept.count > Limits.restingRows {
      kept.sort { ($0.record.changed, $0.key) < ($1.record.changed, $1.key) }
      for download in kept.prefix(kept.count - Limits.restingRows) { forget(download) }
    }
    orders.forgotten.sort()
  }

  private func forget(_ download: Download) {
    downloads.remove(download)
    if downloads[download.key] == nil && download.saved != nil { orders.forgotten.append(download.key) }
  }

  /// Once a second while bytes come: rates, progress, and what must go to the disk.
  func startTicking() { if !flows.isEmpty { timers.add(.tick, at: now.instant.adding(1)) } }

  func tick() {
    var seen: Set<MediaKey> = []
    for (_, (flow, download)) in flows.sorted(by: { $0.key < $1.key }) {
      flow.measure(now.instant)
      guard seen.insert(download.key).inserted else { continue }
      if let store = download.openStore {
        download.meter.note(store.received, at: now.instant)
        flush(store, after: 0)
      }
      download.isProgressDue = true
      touch(download, queue: false)
    }
    watchRoom()
    yieldSlots()
  }
}

extension Download {
  /// What the store is told: whole only when it is on the disk.
  fileprivate var row: TransferRecord {
    if isToBeForgotten { return record.forgotten }
    guard record.state == .cached, let store = openStore, !store.isFlushed else { return record }
    var row = record
    row.state = wasPaused ? .paused : record.order > 0 ? .downloading : .remote
    return row
  }

  /// Whether more than a count has moved while bytes come.
  fileprivate var isWorthSaving: Bool {
    if isUnsaved { return true }
    let record = row
    guard var saved else { return !isForgettable || record.generation > 0 || record.total != nil }
    if !flows.isEmpty { saved.received = record.received }
    return saved != record
  }
}

extension TransferStatus {
  /// Equal but for what changes all the time while bytes come.
  fileprivate func isSame(as other: TransferStatus?) -> Bool {
    guard var other else { return false }
    (other.received, other.rate, other.eta) = (received, rate, eta)
    (other.changed, other.moment) = (changed, moment)
    return self == other
  }

  /// What the log says of the change; nil where it is of the usual course.
  fileprivate func logLine(after other: TransferStatus?) -> String? {
    let what = "\(show) – \(title)"
    guard let error, error != other?.error || state != other?.state else { return nil }
    switch state {
    case .failed: return "cannot download \(what): \(error)"
    case .paused: return "waiting with \(what): \(error)"
    case .remote, .queued, .downloading, .cached: return nil
    }
  }

  /// Whether `changed` moves. What is downloading has no other error than that it is stalled, for a growing time.
  fileprivate func isNews(after other: TransferStatus?) -> Bool {
    guard let other, other.state == state, other.generation == generation else { return true }
    return state != .downloading && other.error != error
  }
}
