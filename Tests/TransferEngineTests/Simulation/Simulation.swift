import PodcastModel
import PosixKit
import TransferEngine
import TransferProtocol

/// The engine among hosts, a disk, clients and clocks that fail in every way there is, in invented time: what takes
/// years goes by in minutes, and each seed replays exactly.
final class Simulation {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  enum Incident {
    case deliver(FlowID)
    case breakOff(FlowID, String)
    case answer(FlowID)
    case disk(Int)
    case wake
    case reconnect(Int)
    case retryRead(Int)
  }

  struct Job {
    var lane: String
    var body: () -> Event?
    var takes: Int64
  }

  var random: SplitMix
  /// Nanoseconds; and what the wall clock is ahead, in seconds.
  var time: Int64 = 1_000_000_000_000
  var wallAhead: Int64 = 0
  /// Seconds that the machine has slept.
  var asleep = 0.0
  var engine: TransferCore
  var settings = TransferSettings()
  /// Incidents to come, by time and number.
  private var agenda: [(time: Int64, number: Int, incident: Incident)] = []
  private var lastNumber = 0
  /// Events that the engine is told next.
  private(set) var events: [Event] = []
  private(set) var steps = 0
  var story: [String] = []
  var facts: [String: Int] = [:]
  /// Of each life of the daemon another one, so that what was on its way to the last is lost.
  private(set) var life = 0

  var episodes: [SimulatedEpisode] = []
  var responses: [FlowID: SimulatedResponse] = [:]
  var disk = SimulatedDisk()
  var clients: [SimulatedClient] = []
  var lastConnection: UInt64 = 0
  var requests: [FlowID: MediaRequest] = [:]
  var storeKeys: [StoreID: MediaKey] = [:]
  var flushing: Set<StoreID> = []
  /// What confirmed orders have promised, until something else is wanted.
  var promises: [MediaKey: Promise] = [:]
  var kept: Set<MediaKey> = []
  var ballastMoved: Int64 = 0
  /// When something last happened that may keep any read waiting.
  var troubled: Int64 = 0
  /// When somebody last did anything.
  var stirred: Int64 = 0
  /// Of all effects so far: the same in each process (FNV-1a); and of the core after each step: in this one.
  private(set) var trace: UInt64 = 0xcbf2_9ce4_8422_2325
  private(set) var states = 0
  private var lanes: [String: [Job]] = [:]
  private var wakeAt: Int64?
  private var eventsAtThisTime = (time: Int64(0), count: 0)
  var isCalm = false
  /// After how many effects the daemon is killed.
  var death: (effects: Int, losesPower: Bool)?
  private var isDead = false
  /// Bytes that the background has written while there was more than `cache_size`.
  var beyondBudget: Int64 = 0

  let hashesStates: Bool

  init(seed: UInt64, hashesStates: Bool = false) {
    self.hashesStates = hashesStates
    random = SplitMix(seed: seed)
    let hosts = 1 + random.below(5)
    for number in 0..<(3 + random.below(6)) {
      let host = random.below(hosts)
      let sizes: [Int64] = [30_000, 200_000, 700_001, 1_500_000, 5_000_000, 12_000_000]
      episodes.append(
        SimulatedEpisode(
          number, host: host, sender: random.chance(1, 3) ? random.below(hosts) : host,
          size: random.pick(sizes)))
      episodes[number].isFair = random.chance(1, 2)
    }
    settings.downloads = Int64(1 + random.below(4))
    settings.perHost = Int64(1 + random.below(3))
    settings.cacheSize = random.pick([1 << 30, 20_000_000, 4_000_000])
    settings.minimumFree = random.pick([0, 1 << 20, 3 << 20])
    settings.limitRate = random.chance(1, 8) ? 300_000 : nil
    disk.free = random.pick([6_000_000, 16_000_000, 1 << 32, 1 << 32])
    engine = TransferCore(
      records: [], rows: disk.rowsForEngine, settings: settings, seed: random.next(),
      now: Self.moment(time, 0))
    for number in 0..<2 { clients.append(SimulatedClient(number: number)) }
    perform(engine.start())
    for index in clients.indices { connect(index) }
  }

  static func moment(_ time: Int64, _ ahead: Int64, asleep: Double = 0) -> Moment {
    Moment(
      instant: Instant(nanoseconds: UInt64(time)),
      wallNanoseconds: (1_700_000_000 + time / 1_000_000_000 + ahead) * 1_000_000_000, asleep: asleep)
  }

  var wasBallastMoved: Bool { time - ballastMoved < 4_000_000_000 }

  var now: Moment { Self.moment(time, wallAhead, asleep: asleep) }
  var wall: Int64 { now.wall }

  func note(_ text: String) {
    story.append("\(Double(time / 1_000_000) / 1000) \(text)")
    if story.count > 400 { story.removeFirst(200) }
  }

  func count(_ what: String) { facts[what, default: 0] += 1 }

  /// Has something happen in so many seconds.
  func schedule(_ incident: Incident, in seconds: Double) {
    schedule(incident, at: time + Int64(seconds * 1e9))
  }

  private func schedule(_ incident: Incident, at when: Int64) {
    lastNumber += 1
    let entry = (when, lastNumber, incident)
    var (low, high) = (0, agenda.count)
    while low < high {
      let middle = (low + high) / 2
      // Latest first, so that the next is the last.
      if (agenda[middle].time, agenda[middle].number) > (entry.0, entry.1) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    agenda.insert(entry, at: low)
  }

  func tell(_ event: Event) { events.append(event) }

  /// Lets time pass by what happens next, for at most so many seconds.
  func pass(_ seconds: Double) throws {
    let end = time + Int64(seconds * 1e9)
    while let next = agenda.last, next.time <= end {
      agenda.removeLast()
      time = max(time, next.time)
      happen(next.incident)
      try settle()
    }
    time = end
  }

  /// Tells the engine all that has happened, and checks what it makes of that.
  func settle() throws {
    while !events.isEmpty {
      let event = events.removeFirst()
      steps += 1
      if eventsAtThisTime.time != time { eventsAtThisTime = (time, 0) }
      eventsAtThisTime.count += 1
      if eventsAtThisTime.count > 50_000 { throw Failure(description: "busy for ever with \(event)") }
      let effects = engine.handle(event, at: now)
      if eventsAtThisTime.count > 49_980 { note("\(event): \(effects)") }
      for byte in "\(effects)".utf8 { trace = (trace ^ UInt64(byte)) &* 0x100_0000_01b3 }
      if hashesStates {
        var hasher = Hasher()
        hasher.combine(states)
        hasher.combine(engine)
        states = hasher.finalize()
      }
      if effects.count > 20_000 { throw Failure(description: "\(effects.count) effects of \(event)") }
      perform(effects)
      dieIfDue()
      if let failure = problem { throw failure }
      if let failure = broken() { throw failure }
    }
  }

  var problem: Failure?

  func fail(_ text: String) {
    if problem == nil { problem = Failure(description: text) }
  }

  private func happen(_ incident: Incident) {
    switch incident {
    case .answer(let flow): answer(flow)
    case .deliver(let flow): deliver(flow)
    case .breakOff(let flow, let why): breakOff(flow, why)
    case .disk(let life): runDisk(life)
    case .wake:
      if let wakeAt, wakeAt <= time {
        self.wakeAt = nil
        tell(.timer)
      }
    case .reconnect(let client): connect(client)
    case .retryRead(let client): clientReads(client)
    }
  }

  private func perform(_ effects: [Effect]) {
    for (index, effect) in effects.enumerated() {
      if let left = death?.effects {
        if left <= 0 {
          if index > 0 { count("kills between two effects of one event") }
          isDead = true
          return
        }
        death?.effects = left - 1
      }
      perform(effect)
    }
  }

  private func dieIfDue() {
    guard isDead, let death else { return }
    isDead = false
    self.death = nil
    kill(losingPower: death.losesPower)
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .ask(let flow, let request): ask(flow, request)
    case .place(let flow, let offset):
      if let response = responses[flow] { episodes[response.episode].forbiddenUntil = 0 }
      let start = responses[flow]?.start ?? 0
      responses[flow]?.shift = offset - start
    case .hold(let flow, let isHeld):
      responses[flow]?.isHeld = isHeld
      if responses[flow] != nil, !isHeld { schedule(.deliver(flow), in: 0.001) }
    case .end(let flow):
      let key = responses[flow].map { episodes[$0.episode].key }
      responses[flow] = nil
      // A disk that refuses, or is slow, has not taken what is held.
      if let key, !isDiskSound || disk.slowness > 0 { forgive(key) }
    case .store(let id, let order): store(id, order)
    case .flush(let id): flush(id)
    case .remove(let key, let generation):
      job("names \(key)", 0.001) { [self] in
        if disk.refusesRemovals {
          count("removals refused")
          return .removed(key, .lasting("I/O error"))
        }
        disk.unlink(key, generation, at: time)
        forgive(key)
        return .removed(key)
      }
    case .measureRoom:
      count("looks at the disk")
      job("cache", 0.001) { [self] in .room(disk.free) }
    case .evict(let candidates, let count, let more):
      job("cache", 0.002) { [self] in evict(candidates, count, more) }
    case .listFiles:
      job("cache", 0.01) { [self] in .found(disk.found()) }
    case .save(let records, let removed): save(records, removed)
    case .saveSettings(let settings):
      job("store", 0.005) { [self] in
        disk.remember(at: time) { $0.settings = settings }
        return nil
      }
    case .send(let client, let message): hear(message, client)
    case .tell: break
    case .log: count("log lines")
    case .wake(let at):
      wakeAt = Int64(clamping: at.nanoseconds)
      schedule(.wake, at: max(Int64(clamping: at.nanoseconds), time))
    case .idle: break
    }
  }

  // The disk's threads: in order for each lane.

  func job(_ lane: String, _ seconds: Double, _ body: @escaping () -> Event?) {
    lanes[lane, default: []].append(
      Job(lane: lane, body: body, takes: time + Int64((seconds + disk.delay(lane, &random)) * 1e9)))
    schedule(.disk(life), at: lanes[lane]?.map(\.takes).max() ?? time)
  }

  private func runDisk(_ life: Int) {
    guard life == self.life else { return }
    for lane in lanes.keys.sorted() {
      while let first = lanes[lane]?.first, first.takes <= time {
        lanes[lane]?.removeFirst()
        if let event = first.body() { tell(event) }
      }
      if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
    }
  }

  /// The disk's threads have done some of what they were given, and nobody hears of it.
  private func finishSome() {
    for lane in lanes.keys.sorted() {
      let jobs = lanes[lane] ?? []
      for job in jobs.prefix(random.below(jobs.count + 1)) { _ = job.body() }
    }
  }

  /// The daemon is killed, with what was on its way; and starts again.
  func kill(losingPower: Bool) {
    count(losingPower ? "power losses" : "kills")
    troubled = time
    stir()
    for index in episodes.indices { episodes[index].forbiddenUntil = 0 }
    note(losingPower ? "power loss" : "kill")
    let wasSound = isDiskSound
    finishSome()
    life += 1
    agenda.removeAll { entry in if case .reconnect = entry.incident { false } else { true } }
    lanes = [:]
    responses = [:]
    requests = [:]
    storeKeys = [:]
    flushing = []
    events = []
    wakeAt = nil
    let deleted = Set(disk.unlinked.keys.compactMap { disk.open[$0]?.key })
    disk.closeAll()
    let loss = losingPower ? disk.losePower(at: time, &random) : SimulatedDisk.PowerLoss()
    for fact in loss.facts { count(fact) }
    // What was promised within the last moment, or by a disk that lied.
    for key in loss.rows {
      promises[key] = nil
      kept.remove(key)
    }
    // It had come, by the disk's word: what is missing now looks like what somebody has deleted.
    for key in loss.bytesOfLies.keys where disk.rows[key]?.state == .cached { promises[key] = nil }
    // So does a damaged file that went just before the order to replace it was on the disk.
    for order in clients.flatMap(\.orders.values) {
      if order.order.verb == .replace, disk.rows[order.key]?.state == .cached,
        !disk.files.keys.contains(where: { $0.key == order.key })
      {
        promises[order.key] = nil
      }
    }
    checkLoss(besides: deleted, wasSound: wasSound, bytesOfLies: loss.bytesOfLies)
    checkStore()
    engine = TransferCore(
      records: disk.unfinished, rows: disk.rowsForEngine, settings: disk.settings ?? settings,
      seed: random.next(),
      now: now)
    for index in clients.indices { disconnect(index) }
    perform(engine.start())
    // Before it has done what it begins with.
    dieIfDue()
  }
}
