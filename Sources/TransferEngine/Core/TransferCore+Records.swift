internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Orders on their way to the disk: each is committed with its row before it acts.
struct CommandLog: Hashable {
  struct Order: Hashable {
    var name: ClientNumber
    var order: TransferOrder
    var place: Int64
    var time: Instant

    var key: MediaKey { order.key }
  }

  struct Batch: Hashable {
    var orders: [Order]
    /// Those with orders come first.
    var rows: [MediaKey]
  }

  private var queue: [Order] = []
  /// What is on its way to the disk: one commit at a time. An order waits for two at the most.
  private(set) var batch: Batch?
  /// Those whose rows differ from the store's.
  private var changed: Set<MediaKey> = []
  /// Until when what nobody has ordered waits, because the store cannot be written.
  private(set) var restsUntil: Instant?
  /// How many names of each are being taken away: orders wait for that.
  private var removals: [MediaKey: Int] = [:]

  var isEmpty: Bool { batch == nil && removals.isEmpty }
  private var pending: [Order] { queue + (batch?.orders ?? []) }
  /// Episodes that orders on their way to the disk are for.
  var ordered: Set<MediaKey> { Set(pending.map(\.key)) }
  /// Whether an order that the store has not committed yet removes files of this episode.
  func isDropping(_ key: MediaKey) -> Bool { pending.contains { $0.key == key && $0.order.takesFiles } }

  func isPending(_ key: MediaKey) -> Bool {
    changed.contains(key) || batch?.rows.contains(key) == true || pending.contains { $0.key == key }
  }

  mutating func append(_ order: Order) { queue.append(order) }
  mutating func note(changed key: MediaKey) { changed.insert(key) }
  mutating func removes(_ key: MediaKey) { removals[key, default: 0] += 1 }

  mutating func next(at now: Instant, held: Set<MediaKey> = []) -> Batch? {
    if batch != nil || queue.isEmpty && changed.isEmpty { return nil }
    let isReady = { [removals] (order: Order) in removals[order.key] == nil && !held.contains(order.key) }
    let orders = queue.filter(isReady)
    queue.removeAll(where: isReady)
    if orders.isEmpty, changed.isEmpty || restsUntil.map({ $0 > now }) ?? false { return nil }
    let ordered = Set(orders.map(\.key))
    batch = Batch(orders: orders, rows: ordered.sorted() + changed.subtracting(ordered).sorted())
    changed = []
    return batch
  }

  mutating func saved(failed: Bool, at now: Instant) -> Batch? {
    defer { batch = nil }
    restsUntil = failed ? now.adding(5) : nil
    return batch
  }

  /// - Returns: whether it was the last, and an order waits that has taken it away.
  mutating func removed(_ key: MediaKey) -> Bool {
    let left = (removals[key] ?? 0) - 1
    removals[key] = left > 0 ? left : nil
    return left == 0 && queue.contains { $0.key == key && $0.order.takesFiles }
  }

  mutating func refuse(_ key: MediaKey) -> [ClientNumber] {
    let isRefused = { (order: Order) in order.key == key && order.order.takesFiles }
    defer { queue.removeAll(where: isRefused) }
    return queue.filter(isRefused).map(\.name)
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
    for order in batch.orders {
      change(order.key) { core, download in
        if failure == nil { core.obey(order, &download) } else { download.refused(at: core.now.instant) }
      }
      answer(order.name, failure)
    }
    if failure == nil { return rest(Set(batch.rows)) }
    // The store has neither the rows nor what the orders would have made of them.
    for key in batch.rows { change(key) { _, download in download.told.row?.changed = -1 } }
    timers.add(.queue, at: now.instant.adding(5))
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
  /// Equal but for what changes all the time while bytes come.
  fileprivate func isSame(as other: TransferStatus?) -> Bool {
    guard var other else { return false }
    (other.received, other.rate, other.eta) = (received, rate, eta)
    (other.changed, other.tries) = (changed, tries)
    return self == other
  }
}
