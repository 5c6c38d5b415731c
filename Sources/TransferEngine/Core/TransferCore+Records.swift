internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Orders of clients in three steps: the row is committed, the files of a drop are removed, the order is done.
struct CommandLog: Hashable {
  struct Order: Hashable {
    var name: ClientNumber
    var order: TransferOrder
    var place: Int64
    var time: Instant
    /// Whether a full disk made the episode's files go before the order's row was stored.
    var hasMadeRoom = false

    var key: MediaKey { order.key }
  }

  struct Batch: Hashable {
    var orders: [Order]
    /// Those with orders come first.
    var rows: [MediaKey]
  }

  private var queue: [Order] = []
  /// The rows that the store commits now, one commit at a time. So an order waits for two commits at most.
  private(set) var batch: Batch?
  /// Those whose rows differ from the store's.
  private var changed: Set<MediaKey> = []
  /// The store cannot be written: until then only rows that an order changes are tried.
  private(set) var restsUntil: Instant?
  private struct Removal: Hashable {
    var names = 0
    var failure: TransferFailure?
  }
  /// How many names of each are being taken away, and why one was not: orders wait for that.
  private var removals: [MediaKey: Removal] = [:]
  /// Orders behind their commit, whether it succeeded or not. They are carried out when the disk has removed the files.
  private var acting: [Order] = []

  var isEmpty: Bool { batch == nil && removals.isEmpty }
  private var pending: [Order] { queue + (batch?.orders ?? []) + acting }
  /// The episodes of all orders that are not done yet.
  var ordered: Set<MediaKey> { Set(pending.map(\.key)) }
  /// Whether an order that is not done yet removes files of this episode.
  func isDropping(_ key: MediaKey) -> Bool { pending.contains { $0.key == key && $0.order.takesFiles } }

  func isPending(_ key: MediaKey) -> Bool {
    changed.contains(key) || batch?.rows.contains(key) == true || pending.contains { $0.key == key }
  }

  mutating func append(_ order: Order) { queue.append(order) }
  mutating func note(changed key: MediaKey) { changed.insert(key) }
  mutating func removes(_ key: MediaKey) { removals[key, default: Removal()].names += 1 }

  mutating func next(at now: Instant, held: Set<MediaKey> = []) -> Batch? {
    if batch != nil || queue.isEmpty && changed.isEmpty { return nil }
    let isReady = { [removals] (order: Order) in removals[order.key] == nil && !held.contains(order.key) }
    let orders = queue.filter(isReady)
    queue.removeAll(where: isReady)
    // The rows of drops whose files are being removed are committed already.
    let rows = changed.subtracting(acting.map(\.key))
    if orders.isEmpty, rows.isEmpty || restsUntil.map({ $0 > now }) ?? false { return nil }
    let ordered = Set(orders.map(\.key))
    batch = Batch(orders: orders, rows: ordered.sorted() + rows.subtracting(ordered).sorted())
    changed.subtract(rows)
    return batch
  }

  mutating func saved(failed: Bool, at now: Instant) -> Batch? {
    defer { batch = nil }
    restsUntil = failed ? now.adding(5) : nil
    return batch
  }

  /// Keeps a committed order until the last file name of its episode is removed.
  /// - Returns: false where none is being removed: the order may be done at once.
  mutating func acts(_ order: Order) -> Bool {
    if removals[order.key] == nil { return false }
    acting.append(order)
    return true
  }

  /// The disk has removed one file of an episode, or says why it could not.
  /// - Returns: where that was the last file, the orders that waited for it, and why one of the files is still there.
  mutating func removed(
    _ key: MediaKey, _ failure: TransferFailure?
  ) -> (orders: [Order], failure: TransferFailure?) {
    var removal = removals[key] ?? Removal()
    removal.names -= 1
    removal.failure = removal.failure ?? failure
    removals[key] = removal.names > 0 ? removal : nil
    if removal.names > 0 { return ([], nil) }
    defer { acting.removeAll { $0.key == key } }
    return (acting.filter { $0.key == key }, removal.failure)
  }
}

extension TransferCore {
  static let forgetAfter = 60.0

  mutating func publish(_ keys: Set<MediaKey>) {
    var news: [MediaKey] = []
    for key in downloads.inOrder(keys) {
      change(key, isQuiet: true) { core, download in
        if core.publish(&download) { news.append(key) }
        if download.isWorthSaving { core.log.note(changed: key) }
      }
    }
    if !news.isEmpty { emit(.tell(news)) }
  }

  private mutating func publish(_ download: inout Download) -> Bool {
    let (status, before) = (download.status, download.told.status)
    // At the end of what came, short as it was.
    let isCountDue = download.fetches.isEmpty && status.received != before?.received ?? 0
    defer { download.told.isProgressDue = false }
    download.record.state = status.state
    if download.fetches.isEmpty { download.record.received = download.received }
    guard !status.isSame(as: before) || download.told.isProgressDue || isCountDue else { return false }
    if status.stage != before?.stage ?? .absent || status.generation != before?.generation ?? 0 {
      download.record.changed = now.wallNanoseconds
    }
    if status.state == .failed, let error = status.error, error != before?.error || before?.state != .failed {
      emit(.log("cannot download \(status.show) – \(status.title): \(error)"))
    }
    download.told.status = download.status
    return true
  }

  /// Gives the disk what is new, unless it is still busy with the last commit.
  mutating func commit() {
    // Of what the store does not know, files may be found in a moment.
    let unlisted = phase == .listing ? log.ordered.filter { !downloads.hasRow($0) } : []
    guard let next = log.next(at: now.instant, held: space.evicting.union(unlisted)) else { return }
    var rows: [TransferStatus] = []
    var removed: [MediaKey] = []
    for key in next.rows {
      let orders = next.orders.filter { $0.key == key }
      // An order for an episode that nothing is known of.
      if downloads.record(of: key) == nil {
        guard let request = orders.lazy.compactMap(\.order.request).first else {
          removed.append(key)
          continue
        }
        change(request) { _, _ in }
      }
      change(key, isQuiet: true) { core, download in
        // Orders act when they are on the disk: what is saved is what they will make of it.
        var planned = download
        for order in orders { planned.obey(order, at: core.now.instant) }
        if !planned.isWorthARow {
          removed.append(key)
          download.told.row = nil
        } else if planned.isWorthSaving || !orders.isEmpty {
          rows.append(planned.row)
          download.told.row = planned.row
        }
      }
    }
    emit(.save(rows, removing: removed))
  }

  mutating func saved(_ failure: TransferFailure?) {
    guard let batch = log.saved(failed: failure != nil, at: now.instant) else { return }
    for var order in batch.orders {
      let takesFiles = order.order.takesFiles && !order.hasMadeRoom
      // On a full disk its files make room for its row.
      let makesRoom = failure?.errno == .ENOSPC && isStoreBesideCache && takesFiles
      if let failure, !makesRoom {
        refuse(order, failure)
        continue
      }
      if takesFiles { change(order.key) { core, download in core.removeFiles(of: &download) } }
      order.hasMadeRoom = makesRoom
      if log.acts(order) { continue }
      if let failure { refuse(order, failure) } else { act(order) }
    }
    if failure == nil { return rest(Set(batch.rows)) }
    // The store has neither the rows nor what the orders would have made of them.
    for key in batch.rows { change(key) { _, download in download.told.row?.changed = -1 } }
    timers.add(.queue, at: now.instant.adding(5))
  }

  /// The names of files have been taken away, or why not: then what is ordered does not happen.
  mutating func removed(_ key: MediaKey, _ failure: TransferFailure?) {
    let (orders, failure) = log.removed(key, failure)
    for order in orders {
      if let failure, order.order.takesFiles {
        refuse(order, failure)
      } else if order.hasMadeRoom {
        change(key) { core, download in core.forgetBytes(of: &download, removesNames: false) }
        log.append(order)
      } else {
        act(order)
      }
    }
    touch(key)
  }

  private mutating func act(_ order: CommandLog.Order) {
    change(order.key) { core, download in core.obey(order, &download) }
    answer(order.name)
  }

  private mutating func refuse(_ order: CommandLog.Order, _ failure: TransferFailure) {
    change(order.key) { core, download in
      download.refused(at: core.now.instant)
      // The store may have the row that the order would have made. No row equals this one: it is written again.
      download.told.row?.changed = -1
    }
    answer(order.name, failure)
  }

  /// Leaves downloads that nothing is to be done for to their rows.
  /// - Parameter forgetting: whether those go that have no row. Not before everybody has heard of it.
  mutating func rest(_ keys: Set<MediaKey>, forgetting: Bool = false) {
    for key in keys {
      guard let download = downloads.active[key], !download.isBusy, !download.isDirty, !log.isPending(key)
      else { continue }
      if download.told.row == nil && !forgetting {
        timers.add(.forget, at: now.instant.adding(Self.forgetAfter))
      } else {
        downloads.rest(key)
        scheduler.note(key, nil, isPlaced: false)
      }
    }
  }
}

extension TransferStatus {
  fileprivate func isSame(as other: TransferStatus?) -> Bool {
    guard var other else { return false }
    (other.received, other.rate, other.eta) = (received, rate, eta)
    (other.changed, other.tries) = (changed, tries)
    return self == other
  }
}
