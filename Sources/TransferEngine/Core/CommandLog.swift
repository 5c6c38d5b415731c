internal import PodcastModel
internal import TransferProtocol

/// An order, by its client's number.
struct OrderName: Hashable {
  var client: ClientID
  var id: UInt64
}

/// Orders on their way to the disk: each is committed with its row before it acts.
struct CommandLog: Hashable {
  enum Command: Hashable {
    case start(TransferRequest)
    case pause(TransferRequest)
    case keep(TransferRequest, Bool)
    /// Withdraws what this client's readers alone want.
    case leave
    /// The bytes are dropped already, because that makes room for the row.
    /// - Parameter isToldByFiles: whether the next daemon learns it from the missing files too, as on a disk that is too
    ///   full for its row.
    case drop(isToldByFiles: Bool)

    var request: TransferRequest? {
      switch self {
      case .start(let request), .pause(let request), .keep(let request, _): request
      case .leave, .drop: nil
      }
    }
  }

  struct Order: Hashable {
    var name: OrderName
    var key: MediaKey
    var command: Command
    /// The queue's last place.
    var place: Int64
  }

  struct Batch: Hashable {
    var id: SaveID
    var orders: [Order]
    var rows: Set<MediaKey>
  }

  private var queue: [Order] = []
  /// What is on its way to the disk: one commit at a time. An order waits for two at the most.
  private(set) var batch: Batch?
  /// Those whose rows differ from the store's, each with a number that grows.
  private var changed: [MediaKey: UInt64] = [:]
  private var lastChange: UInt64 = 0
  /// Rows to be deleted.
  private var forgotten: Set<MediaKey> = []
  private var restsUntil: Instant?
  /// Looks at the cache for deleted files that are under way: what is ordered meanwhile waits for what they find.
  private var looks = 0
  /// Names that are being taken away: orders wait for that.
  private var removals: [MediaKey: Removal] = [:]

  struct Removal: Hashable {
    /// Names that the disk has not answered for.
    var count = 0
    /// When the last order to drop came that waits for it.
    var dropped: Instant?
    /// Whether nothing of the episode is to be remembered.
    var forgets = false
  }

  var isEmpty: Bool { batch == nil && removals.isEmpty }

  mutating func append(_ order: Order) { queue.append(order) }

  mutating func note(changed key: MediaKey) {
    forgotten.remove(key)
    if changed[key] != nil { return }
    lastChange += 1
    changed[key] = lastChange
  }

  mutating func forget(row key: MediaKey) {
    changed[key] = nil
    forgotten.insert(key)
  }

  func isPending(_ key: MediaKey) -> Bool {
    changed[key] != nil || queue.contains { $0.key == key } || batch?.rows.contains(key) == true
      || batch?.orders.contains { $0.key == key } == true
  }

  /// A drop overtakes what was ordered before it: that is confirmed, and does nothing.
  /// - Returns: whether nothing was on its way to the disk.
  mutating func overtake(_ key: MediaKey) -> Bool {
    func overtake(_ orders: inout [Order]) {
      for index in orders.indices where orders[index].key == key {
        if case .keep = orders[index].command { continue }
        orders[index].command = .drop(isToldByFiles: false)
      }
    }
    overtake(&queue)
    var orders = batch?.orders ?? []
    overtake(&orders)
    batch?.orders = orders
    return batch?.rows.contains(key) != true
  }

  mutating func leave(_ client: ClientID) {
    queue.removeAll { $0.name.client == client }
    batch?.orders.removeAll { $0.name.client == client }
  }

  /// What goes into the next commit: what was ordered, and of the other rows those that have waited longest.
  /// - Parameter isHeld: whether orders for a download wait.
  mutating func next(
    _ id: SaveID, at now: Instant, isHeld: (MediaKey) -> Bool
  ) -> (orders: [Order], rows: [MediaKey], removed: [MediaKey])? {
    if batch != nil || queue.isEmpty && changed.isEmpty && forgotten.isEmpty { return nil }
    let isReady = { [removals, looks] (order: Order) in
      looks == 0 && removals[order.key] == nil && !isHeld(order.key)
    }
    let orders = queue.filter(isReady)
    queue.removeAll(where: isReady)
    if orders.isEmpty, let restsUntil, restsUntil > now { return nil }
    let ordered = Set(orders.map(\.key))
    var rows = ordered.sorted()
    let others = changed.filter { !ordered.contains($0.key) }.sorted { $0.value < $1.value }.map(\.key)
    rows += others.prefix(Limits.rowsAtOnce)
    for key in rows { changed[key] = nil }
    let removed = Array(forgotten.subtracting(ordered).sorted().prefix(Limits.rowsAtOnce))
    forgotten.subtract(removed)
    if orders.isEmpty && rows.isEmpty && removed.isEmpty { return nil }
    batch = Batch(id: id, orders: orders, rows: Set(rows))
    return (orders, rows, removed)
  }

  /// The store cannot be written: what nobody has ordered waits for a while.
  /// - Returns: until when.
  mutating func rest(at now: Instant) -> Instant {
    let end = now.adding(5)
    restsUntil = end
    return end
  }

  mutating func saved(_ id: SaveID) -> Batch? {
    guard let done = batch, done.id == id else { return nil }
    batch = nil
    return done
  }

  mutating func looks(_ count: Int) { looks = max(looks + count, 0) }

  mutating func removes(_ key: MediaKey) { removals[key, default: Removal()].count += 1 }

  /// An order to drop waits until the names are gone, which are being taken away.
  mutating func drops(_ key: MediaKey, forgets: Bool, at now: Instant) {
    removals[key]?.dropped = now
    if forgets { removals[key]?.forgets = true }
  }

  func isDropping(_ key: MediaKey) -> Bool { removals[key]?.dropped != nil }

  /// - Returns: what waited for it, where it was the last.
  mutating func removed(_ key: MediaKey) -> Removal? {
    removals[key]?.count -= 1
    guard let removal = removals[key], removal.count <= 0 else { return nil }
    removals[key] = nil
    return removal
  }

  /// Takes out the orders to drop a download whose files could not be removed.
  mutating func refuseDrops(of key: MediaKey) -> [OrderName] {
    let isDrop = { (order: Order) in
      order.key == key && order.command.request == nil && order.command != .leave
    }
    defer { queue.removeAll(where: isDrop) }
    return queue.filter(isDrop).map(\.name)
  }
}

extension Download {
  /// Does what was ordered. Also on a copy, to learn the row that is committed first.
  mutating func obey(_ order: CommandLog.Order, at now: Instant) {
    switch order.command {
    case .start(let request):
      take(request)
      want(by: nil, place: order.place, at: now)
    case .pause(let request):
      take(request)
      pause()
    case .keep(let request, let isKept):
      take(request)
      record.isKept = isKept
    case .leave:
      if demand == .wanted(by: order.name.client), !record.isKept, readers.isEmpty { withdraw() }
    case .drop: break
    }
  }
}
