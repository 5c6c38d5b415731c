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
  mutating func append(_ order: Order) { queue.append(order) }
  mutating func note(changed key: MediaKey) { changed.insert(key) }

  func isPending(_ key: MediaKey) -> Bool {
    changed.contains(key) || batch?.rows.contains(key) == true || pending.contains { $0.key == key }
  }

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

  mutating func removes(_ key: MediaKey) { removals[key, default: 0] += 1 }

  /// - Returns: whether it was the last, and an order waits that has taken it away.
  mutating func removed(_ key: MediaKey) -> Bool {
    let left = (removals[key] ?? 0) - 1
    removals[key] = left > 0 ? left : nil
    return left == 0 && queue.contains { $0.key == key && $0.order.takesFiles }
  }

  private var pending: [Order] { queue + (batch?.orders ?? []) }

  /// Episodes that orders on their way to the disk are for.
  var ordered: Set<MediaKey> { Set(pending.map(\.key)) }

  /// Whether an order that the store has not committed yet removes files of this episode.
  func isDropping(_ key: MediaKey) -> Bool { pending.contains { $0.key == key && $0.order.takesFiles } }

  mutating func refuse(_ key: MediaKey) -> [ClientNumber] {
    let isRefused = { (order: Order) in order.key == key && order.order.takesFiles }
    defer { queue.removeAll(where: isRefused) }
    return queue.filter(isRefused).map(\.name)
  }
}

extension Download {
  /// Does what was ordered. Also on a copy, to learn the row that is committed first.
  mutating func obey(_ order: CommandLog.Order, at now: Instant) {
    if let request = order.order.request { take(request) }
    switch order.order.verb {
    case .start: want(by: nil, place: order.place, at: now)
    case .pause: pause()
    case .keep: (record.isKept, record.dropsAtClose) = (true, false)
    case .unkeep: record.isKept = false
    case .leave:
      if demand == .wanted(by: order.name.client), !record.isKept, readers.isEmpty { withdraw() }
    case .dropAtClose: record.dropsAtClose = true
    case .drop, .forget:
      withdraw()
      record.dropsAtClose = false
      if order.order.verb == .forget { record = record.forgotten }
    // What was found by its name has no address. What is dropped at its last close comes only as it is read.
    case .replace:
      if demand == .none && !record.dropsAtClose && !record.request.url.isEmpty {
        want(by: nil, place: order.place, at: now)
      }
    }
  }
}
