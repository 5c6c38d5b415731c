internal import EpisodeCache
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit
internal import TransferEngine
internal import TransferProtocol
internal import TransferStore

/// Does what the engine has decided, and tells it what came of that: the one place where its effects meet the world.
/// Made, called and let go of by the loop's thread only: that makes it Sendable.
final class EngineDriver: @unchecked Sendable {
  private var engine: TransferCore
  private let loop: EventLoop
  private let http: HTTPSession
  let disk = DiskPool()
  let layout: CacheLayout
  private let room: DiskRoom
  private let store: Monitor<TransferStore>
  private let rows: StoredRows
  private let log: LogFile
  private let background: BackgroundWatch
  private var flows: [FlowID: FlowReceiver] = [:]
  private var files: [StoreID: EpisodeFiles] = [:]
  private(set) var counts = HTTPCounts()
  private(set) var clients: [ClientID: ClientConnection] = [:]
  private var events: [Event] = []
  /// Responses that take no more before the engine has heard of what came.
  private var resting: [FlowReceiver] = []
  private var isDraining = false
  /// Gives what the engine wants of the disk to its threads, in order: when hosts have been asked and clients told, for
  /// those threads take processors away from who waits for that.
  private var jobs: [() -> Void] = []
  /// Whether the engine will hear of bytes that come slowly.
  private var isTelling = false
  private var timer: EventLoop.Timer?
  /// Called when there is nothing to do any more, and when there is again.
  var idlenessChanged: (Bool) -> Void = { _ in }

  init(
    loop: EventLoop, layout: CacheLayout, store: consuming sending TransferStore, log: LogFile
  ) throws {
    precondition(Limits.block == LiveMap.blockSize && Limits.largestFile == LiveMap.largest)
    self.loop = loop
    self.layout = layout
    room = DiskRoom(of: layout.cache)
    self.log = log
    http = HTTPSession(loop: loop)
    var settings = try store.settings() ?? TransferSettings()
    // That is a mount's, which says it again.
    settings.isPaused = false
    rows = try StoredRows(store)
    background = BackgroundWatch(settings, loop: loop)
    try store.prune()
    engine = TransferCore(
      records: try store.records(unfinished: true), rows: rows, settings: settings, rest: background.rest,
      seed: .random(in: 0 ... .max), now: .current)
    self.store = Monitor(store)
    background.restChanged = { [unowned self] in post(.background($0)) }
    background.resumed = { [unowned self] in post(.resumed) }
  }

  func start() {
    perform(engine.start())
    runJobs()
  }

  func post(_ event: Event) {
    loop.assertCurrent()
    events.append(event)
    scheduleDrain()
  }

  func networkChanged() {
    background.networkChanged()
    post(.networkChanged)
  }

  private func scheduleDrain() {
    if isDraining { return }
    isDraining = true
    loop.soon { [unowned self] in drain() }
  }

  /// The engine hears of bytes at once where they end somebody's wait, else a moment later, with those that come meanwhile.
  func arrived(_ count: Int, of flow: FlowID) {
    if engine.endsWait(count, of: flow) { return scheduleDrain() }
    if isTelling { return }
    isTelling = true
    loop.schedule(at: .after(Self.tellAfter)) { [unowned self] in
      isTelling = false
      scheduleDrain()
    }
  }

  /// Seconds. 128 KiB that come sooner are told at once.
  private static let tellAfter = 0.02

  /// Takes nothing more of a response before the engine has heard of what has come.
  func rest(_ flow: FlowReceiver) {
    flow.isResting = true
    resting.append(flow)
    if let task = flow.task { http.pause(task) }
    scheduleDrain()
  }

  private func drain() {
    for flow in flows.values { flow.tellCame() }
    let rested = resting
    resting = []
    defer {
      for flow in rested {
        flow.isResting = false
        if !flow.isHeld, flows[flow.id] === flow, let task = flow.task { http.resume(task) }
      }
    }
    while !events.isEmpty {
      let now = events
      events = []
      for event in now {
        count(event)
        perform(engine.handle(event, at: .current))
      }
      http.begin()
    }
    isDraining = false
    for client in clients.values { client.flush() }
    runJobs()
  }

  private func count(_ event: Event) {
    switch event {
    case .head(_, let head, _): counts.note(status: head.status)
    case .came(_, let bytes): counts.received += Int64(bytes)
    case .ended(_, .some): counts.networkErrors += 1
    default: break
    }
  }

  private func runJobs() {
    for run in jobs { run() }
    jobs = []
  }

  func add(_ client: ClientConnection) { clients[client.id] = client }

  func remove(_ client: ClientConnection) {
    guard clients.removeValue(forKey: client.id) != nil else { return }
    post(.left(client.id))
  }

  func status(of key: MediaKey) -> TransferStatus? { engine.status(of: key) }

  func tellAll(_ client: ClientConnection) {
    client.tellAll(engine.keys)
    scheduleDrain()
  }

  private func perform(_ effects: [Effect]) { for effect in effects { perform(effect) } }

  private func perform(_ effect: Effect) {
    switch effect {
    case .ask(let id, let request): ask(id, request)
    case .place(let id, let offset): flows[id]?.held.place(at: offset)
    case .hold(let id, let isHeld): hold(id, isHeld)
    case .stop(let id): if let flow = flows[id], let task = flow.task, !flow.hasEnded { http.cancel(task) }
    case .end(let id):
      if let flow = flows.removeValue(forKey: id), let task = flow.task, !flow.hasEnded { http.cancel(task) }
    case .store(let id, let order): perform(order, on: id)
    case .flush(let id):
      guard let files = files[id] else { return }
      answer(.flush(files.key)) { .disk(id, files.flush()) }
    case .remove(let key, let generation):
      let layout = layout
      answer(.files(key)) {
        let failure = layout.remove(key, generation)
          .map { TransferFailure($0, "cannot remove it from the cache: \($0)") }
        return .removed(key, failure)
      }
    case .measureRoom:
      let layout = layout
      answer(.cache) { .room(DiskSpace.available(at: layout.cache)) }
    case .evict(let candidates, let count):
      let layout = layout
      answer(.cache) { .evicted(layout.evict(candidates, count: count)) }
    case .listFiles:
      let (layout, rows, changed) = (layout, rows, engine.keysInMemory)
      answer(.cache) {
        defer { SpareMemory.giveBack() }
        return layout.foundFiles(besides: rows.names(.cached).filter { !changed.contains($0.key) })
      }
    case .save(let id, let records, let removed):
      let store = store
      answer(.store) { .saved(id, store.withLock { $0.failure(saving: records, removing: removed) }) }
    case .saveSettings(let settings):
      background.use(settings)
      let store = store
      // Where that fails, the next mount says them again.
      run(.store) { store.withLock { store in try? store.save(settings) } }
    case .send(let client, let message): clients[client]?.send(message)
    case .tell(let keys): for client in clients.values { client.tell(keys) }
    case .log(let line):
      let log = log
      run(.log) { log.write(line) }
    case .wake(let time): wake(at: time)
    case .idle(let isIdle): idlenessChanged(isIdle)
    }
  }

  /// Does something on a thread for the disk, and tells the engine what came of it.
  private func answer(_ lane: DiskPool.Lane, _ job: @escaping @Sendable () -> Event?) {
    run(lane) { [self] in
      if let event = job() { loop.async { self.post(event) } }
    }
  }

  private func run(_ lane: DiskPool.Lane, _ job: @escaping @Sendable () -> Void) {
    jobs.append { [disk] in disk.run(lane, job) }
  }

  private func wake(at time: Instant) {
    if let timer { loop.cancel(timer) }
    timer = loop.schedule(at: MonotonicTime(nanoseconds: UInt64(max(time.nanoseconds, 0)))) {
      [unowned self] in
      timer = nil
      post(.timer)
    }
  }

  private func hold(_ id: FlowID, _ isHeld: Bool) {
    guard let flow = flows[id], let task = flow.task else { return }
    flow.isHeld = isHeld
    if isHeld { http.pause(task) } else if !flow.isResting { http.resume(task) }
  }

  private func ask(_ id: FlowID, _ request: MediaRequest) {
    // Where the rate is limited, little at a time.
    let most = request.settings.limitRate == nil ? 128 << 10 : 1
    let flow = FlowReceiver(id, at: request.range?.start ?? 0, mostAtOnce: most, self)
    flows[id] = flow
    counts.requests += 1
    flow.task = http.start(HTTPRequest(request), receiver: flow)
  }

  private func perform(_ order: StoreOrder, on id: StoreID) {
    var pieces: [HeldBytes.Piece] = []
    switch order {
    case .open(let key, _), .create(let key, _, _, _): files[id] = EpisodeFiles(key, layout, room)
    case .write(let flow, let range, _), .compare(let flow, let range):
      pieces = flows[flow]?.held.take(range) ?? []
    case .describe, .close: break
    }
    guard let files = files[id] else { return }
    if case .close = order { self.files[id] = nil }
    answer(.files(files.key)) { [pieces] in files.perform(order, pieces).map { .disk(id, $0) } }
  }

  /// Ends all responses, brings everything to the disk, as far as it takes it in ten seconds, and calls `ended`.
  func stop(_ ended: @escaping () -> Void) {
    // The engine is not to hear that they have gone: what they have open, the next daemon is told.
    let left = clients.values
    clients = [:]
    for client in left { client.close() }
    perform(engine.stop(at: .current))
    runJobs()
    wait(until: .after(10), ended)
  }

  private func wait(until deadline: MonotonicTime, _ ended: @escaping () -> Void) {
    if engine.isAtRest && disk.isIdle || MonotonicTime.now > deadline {
      http.stop()
      return ended()
    }
    loop.schedule(at: .after(0.01)) { self.wait(until: deadline, ended) }
  }
}

extension Moment {
  static var current: Moment {
    let wall = wallClockNanoseconds()
    return Moment(
      instant: Instant(nanoseconds: Int64(clamping: MonotonicTime.now.nanoseconds)),
      wall: wall / 1_000_000_000, fraction: wall % 1_000_000_000)
  }
}

extension TransferStore {
  /// Saves, and says why that could not be done.
  fileprivate func failure(saving records: [TransferStatus], removing keys: [MediaKey]) -> TransferFailure? {
    do {
      try save(records, removing: keys)
      return nil
    } catch {
      let errno = (error as? DatabaseError)?.errno ?? .EIO
      let isFull = errno == .ENOSPC
      return TransferFailure(
        errno, isFull ? "no space left on the disk of \(path)" : "cannot remember it: \(error)")
    }
  }
}

extension StoredRows {
  /// Reads by a connection of its own, which waits for no commit.
  fileprivate init(_ store: borrowing TransferStore) throws {
    self.init()
    bytes = try store.bytes()
    let reader = Monitor(try TransferStore(reading: store.state))
    record = { key in reader.withLock { try? $0.record(of: key) } }
    names = { choice in
      let condition =
        switch choice {
        case .all: "1"
        case .cached: "received > 0"
        case .evictable: "evictable"
        }
      let found = reader.withLock { (try? $0.names(where: condition)) ?? [] }
      return found.map { GenerationName(key: $0.key, generation: $0.generation, size: $0.received) }
    }
  }
}
