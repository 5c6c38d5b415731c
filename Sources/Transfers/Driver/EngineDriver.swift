internal import EpisodeCache
internal import Glibc
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit
internal import TransferEngine
internal import TransferProtocol
internal import TransferStore

/// Does what the engine has decided, and tells it what came of that. For the loop's thread only: so it is Sendable.
final class EngineDriver: @unchecked Sendable {
  private(set) var engine: TransferCore
  let loop: EventLoop
  private let http: HTTPSession
  private let disk = DiskPool()
  let layout: CacheLayout
  private let room: DiskRoom
  private let store: Monitor<TransferStore>
  private let rows: StoredRows
  let log: LogFile
  private let background: BackgroundWatch
  private var flows: [FlowID: FlowReceiver] = [:]
  private var files: [StoreID: EpisodeFiles] = [:]
  private(set) var counts = HTTPCounts()
  var clients: [ClientID: Client] = [:]
  private var events: [Event] = []
  /// Responses that take no more before the engine has heard of what came.
  private var resting: [FlowReceiver] = []
  private var hearing = Hearing.idle
  /// What the engine wants of the disk: begun when hosts have been asked and clients told, who wait for the processor.
  private var jobs = (waiting: [() -> Void](), underWay: 0)
  private var timer: EventLoop.Timer?
  var report: (Report) -> Void = { _ in }

  private enum Hearing {
    case idle
    case later(EventLoop.Timer)
    case soon

    var isSoon: Bool { if case .soon = self { true } else { false } }
  }

  enum Report {
    case idle(Bool)
    case message
    case newerClient
  }

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
      isStoreBesideCache: Self.areOnOneDisk(layout.cache, store.state), seed: .random(in: 0 ... .max),
      now: .current)
    self.store = Monitor(store)
    background.restChanged = { [unowned self] in post(.background($0)) }
  }

  private static func areOnOneDisk(_ a: String, _ b: String) -> Bool {
    var (first, second) = (stat(), stat())
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev
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

  func scheduleDrain() {
    switch hearing {
    case .soon: return
    case .later(let timer): loop.cancel(timer)
    case .idle: break
    }
    hearing = .soon
    loop.soon { [unowned self] in drain() }
  }

  /// The engine hears of bytes at once where they end somebody's wait, else a moment later, with those that come meanwhile.
  func arrived(_ count: Int, of flow: FlowID) {
    if engine.endsWait(count, of: flow) { return scheduleDrain() }
    guard case .idle = hearing else { return }
    hearing = .later(
      loop.schedule(at: .after(Self.tellAfter)) { [unowned self] in
        hearing = .idle
        scheduleDrain()
      })
  }

  /// Seconds. 128 KiB that come sooner are told at once.
  private static let tellAfter = 0.02

  /// Takes nothing more of a response before the engine has heard of what has come.
  func rest(_ flow: FlowReceiver) {
    flow.isResting = true
    resting.append(flow)
    steer(flow)
    scheduleDrain()
  }

  private func drain() {
    // A response that goes on here may give its next bytes at once, and rests again: then another turn follows.
    hearing = .idle
    for flow in flows.values { flow.tellCame() }
    let rested = resting
    resting = []
    while !events.isEmpty {
      let now = events
      events = []
      for event in now {
        count(event)
        perform(engine.handle(event, at: .current))
      }
      http.begin()
    }
    for client in clients.values { client.socket.flush() }
    runJobs()
    for flow in rested {
      flow.isResting = false
      if flows[flow.id] === flow { steer(flow) }
    }
    assert(resting.isEmpty || hearing.isSoon, "a response rests, and no turn follows")
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
    for run in jobs.waiting { run() }
    jobs.waiting = []
  }

  private func perform(_ effects: [Effect]) { for effect in effects { perform(effect) } }

  private func perform(_ effect: Effect) {
    switch effect {
    case .ask(let id, let request): ask(id, request)
    case .place(let id, let offset): flows[id]?.held.place(at: offset)
    case .hold(let id, let isHeld):
      guard let flow = flows[id] else { return }
      flow.isHeld = isHeld
      steer(flow)
    case .end(let id):
      if let flow = flows.removeValue(forKey: id), let task = flow.task, !flow.hasEnded { http.cancel(task) }
    case .store(let id, let order): perform(order, on: id)
    case .flush(let id):
      guard let files = files[id] else { return }
      answer(.flush(files.key)) { .disk(id, files.flush()) }
    case .remove(let key, let generation):
      answer(.files(key)) { [layout] in
        let failure = layout.remove(key, generation)
          .map { TransferFailure($0, "cannot remove it from the cache: \($0)") }
        return .removed(key, failure)
      }
    case .measureRoom: answer(.cache) { [layout] in .room(DiskSpace.available(at: layout.cache)) }
    case .evict(let candidates, let count, let more):
      answer(.cache) { [layout] in .evicted(layout.evict(candidates, count: count, more: more)) }
    case .listFiles:
      answer(.cache) { [layout, rows, changed = engine.keysInMemory] in
        defer { SpareMemory.giveBack() }
        return layout.foundFiles(besides: rows.names(.cached).filter { !changed.contains($0.key) })
      }
    case .save(let records, let removed):
      answer(.store) { [store] in .saved(store.withLock { $0.failure(saving: records, removing: removed) }) }
    case .saveSettings(let settings):
      background.use(settings)
      answer(.store) { [store] in
        // Where that fails, the next mount says them again.
        store.withLock { store in try? store.save(settings) }
        return nil
      }
    case .send(let client, let message): clients[client]?.answers.append(message)
    case .tell(let keys):
      for client in clients.values where client.hasGreeted { client.untold.formUnion(keys) }
    case .log(let line):
      answer(.log) { [log] in
        log.write(line)
        return nil
      }
    case .wake(let time): wake(at: time)
    case .idle(let isIdle): report(.idle(isIdle))
    }
  }

  /// Tells the engine what came of a job on a thread for the disk.
  private func answer(_ lane: DiskPool.Lane, _ job: @escaping @Sendable () -> Event?) {
    jobs.underWay += 1
    jobs.waiting.append { [self] in
      disk.run(lane) {
        let event = job()
        self.loop.async {
          self.jobs.underWay -= 1
          if let event { self.post(event) }
        }
      }
    }
  }

  private func wake(at time: Instant) {
    if let timer { loop.cancel(timer) }
    timer = loop.schedule(at: time) { [unowned self] in
      timer = nil
      post(.timer)
    }
  }

  private func steer(_ flow: FlowReceiver) {
    guard let task = flow.task else { return }
    if flow.isHeld || flow.isResting { http.pause(task) } else { http.resume(task) }
  }

  private func ask(_ id: FlowID, _ request: MediaRequest) {
    // Where the rate is limited, little at a time.
    let most = request.settings.limitRate == nil ? 128 << 10 : 1
    let flow = FlowReceiver(id, at: request.range?.lowerBound ?? 0, mostAtOnce: most, self)
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
    for client in clients.values { client.socket.close() }
    clients = [:]
    perform(engine.stop(at: .current))
    runJobs()
    wait(until: .after(10), ended)
  }

  private func wait(until deadline: MonotonicTime, _ ended: @escaping () -> Void) {
    if engine.isAtRest && jobs.underWay == 0 || MonotonicTime.now > deadline {
      http.stop()
      return ended()
    }
    loop.schedule(at: .after(0.01)) { self.wait(until: deadline, ended) }
  }
}

extension Moment {
  static var current: Moment {
    Moment(instant: .now, wallNanoseconds: wallClockNanoseconds(), asleep: MonotonicTime.asleep)
  }
}

extension TransferStore {
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
