import PodcastModel
import PosixKit
import TransferEngine
import TransferProtocol

/// The engine with so many downloads to ask for, a disk that does all at once, and hosts that do what a test says.
final class EngineWorld {
  private(set) var engine: TransferCore
  let requests: [TransferRequest]
  /// Seconds.
  private(set) var now: Double
  /// Seconds that the machine has slept.
  private var asleep = 0.0
  private(set) var wake: Instant?
  /// Responses under way, and how many were ever asked for.
  private(set) var running: [FlowID: MediaRequest] = [:]
  private(set) var requested: [MediaRequest] = []
  /// Those of which nothing more is taken for now.
  private(set) var held: Set<FlowID> = []
  /// Those whose head has come.
  private var answered: Set<FlowID> = []
  private(set) var sent: [(client: ClientID, message: DaemonMessage)] = []
  /// Of what observers were told, each time.
  private(set) var told: [MediaKey] = []
  private(set) var logged: [String] = []
  private let store: TestStore
  private(set) var records: [MediaKey: TransferStatus] {
    get { store.rows }
    set { store.rows = newValue }
  }
  /// What is in the cache, and files that are open.
  var files: [MediaKey: (representation: Representation, present: ByteRanges)] = [:]
  /// Files that the cache is found to have.
  private let found: [FoundFile]
  /// Whether they are found at once; else a test answers.
  private let listsAtOnce: Bool
  /// Which local copy the files are.
  private(set) var generations: [MediaKey: UInt32] = [:]
  private(set) var open: [StoreID: MediaKey] = [:]
  private(set) var mostOpen = 0
  /// How often the store was given anything.
  private(set) var commits = 0
  /// Whether records are written when they are given; else when `save` is called.
  var savesAtOnce = true
  /// Whether the disk takes no records, and why.
  var refusesRows = false
  var refusal = TransferFailure.lasting("the disk is full")
  private var unsaved: [(rows: [TransferStatus], removed: [MediaKey])] = []
  /// Whether nothing is let go of when that is asked for; else a test answers.
  var evictsAtOnce = true
  /// Whether all that may go goes when something is let go of; else nothing does.
  var letsGo = false
  /// Bytes that a look at the disk finds; and how often something was to be let go of.
  var room: Int64 = 1 << 40
  private(set) var evictions = 0
  /// Bytes that the disk has room for.
  var capacity = Int64.max
  /// Up to where bytes that come again are the stored ones.
  var sameUpTo = Int64.max
  /// Behind so many bytes of a file the runtime folder has no room for its live map.
  var runtimeCapacity = Int64.max
  /// The generations whose names were taken away.
  private(set) var removed: Set<UInt32> = []
  /// Whether names are taken away at once; else a test answers, or has it done (`removeFiles`).
  var removesAtOnce = true
  private var unremoved: [MediaKey] = []
  /// Whether files are made at once; else a test does (`createFiles`).
  var createsAtOnce = true
  private var uncreated: [Event] = []
  /// Whether pieces are written at once; else a test has it done (`writePieces`).
  var writesAtOnce = true
  private var unwritten: [Event] = []
  /// Whether files are described at once; else a test has it done (`describeFiles`).
  var describesAtOnce = true
  private var undescribed: [Event] = []
  /// How often a file was to be brought to the disk.
  private(set) var flushes = 0
  /// Whether what is written is brought to the disk when that is asked for; else a test has it done (`flushFiles`).
  var flushesAtOnce = true
  private var unflushed: [StoreID] = []
  private var settings: TransferSettings
  private var number: UInt64 = 0
  private let client = ClientID(1)

  var asked: Int { requested.count }

  /// - Parameters:
  ///   - hosts: of so many, in turns.
  ///   - records: what the store remembers of the downloads.
  init(
    _ count: Int, hosts: Int, now: Double = 1000, records: [MediaKey: TransferStatus] = [:],
    files: [MediaKey: (representation: Representation, present: ByteRanges)] = [:],
    found: [FoundFile] = [], listsAtOnce: Bool = true, isStoreBesideCache: Bool = true,
    _ change: (inout TransferSettings) -> Void = { _ in }
  ) {
    var settings = TransferSettings()
    settings.minimumFree = 0
    change(&settings)
    self.settings = settings
    self.now = now
    store = TestStore(records)
    self.files = files
    self.found = found
    self.listsAtOnce = listsAtOnce
    requests = (0..<count).map { index in
      let url = "http://h\(index % hosts).test/\(index).mp3"
      return TransferRequest(
        key: MediaKey(address: WebAddress(url)), url: url, title: "", show: "", fileName: "")
    }
    engine = TransferCore(
      records: store.unfinished, rows: store.stored, settings: settings,
      isStoreBesideCache: isStoreBesideCache, seed: 1, now: Self.moment(now))
    take(engine.start())
    handle(.joined(client, answersAddresses: false))
  }

  private func moment() -> Moment { Self.moment(now, asleep) }

  static func moment(_ seconds: Double, _ asleep: Double = 0) -> Moment {
    Moment(
      instant: Instant(nanoseconds: UInt64(seconds * 1e9)), wallNanoseconds: Int64((seconds + asleep) * 1e9),
      asleep: asleep)
  }

  /// The machine sleeps, and wakes up.
  func sleep(_ seconds: Double) {
    asleep += seconds
    handle(.timer)
  }

  func say(_ message: (UInt64) -> ClientMessage) {
    number += 1
    handle(.said(client, message(number)))
  }

  /// Ends in order.
  func stop() { take(engine.stop(at: moment())) }

  /// A millisecond later.
  func handle(_ event: Event) {
    now += 0.001
    take(engine.handle(event, at: moment()))
  }

  /// Lets time pass, with what the engine wants to do meanwhile.
  func wait(_ seconds: Double) {
    let end = now + seconds
    while let wake, Double(wake.nanoseconds) / 1e9 < end {
      self.wake = nil
      now = max(now, Double(wake.nanoseconds) / 1e9)
      handle(.timer)
    }
    now = max(now, end)
    handle(.timer)
  }

  /// Has the records that wait written.
  func save() {
    let commits = unsaved
    unsaved = []
    for commit in commits { handle(write(commit.rows, commit.removed)) }
  }

  private func write(_ rows: [TransferStatus], _ removed: [MediaKey]) -> Event {
    if refusesRows { return .saved(refusal) }
    for row in rows { records[row.key] = row }
    for key in removed { records[key] = nil }
    return .saved(nil)
  }

  /// The disk has taken the names away that wait.
  func removeFiles() {
    let keys = unremoved
    unremoved = []
    for key in keys { handle(.removed(key)) }
  }

  /// The disk has made the files that wait.
  func createFiles() {
    let answers = uncreated
    uncreated = []
    for answer in answers { handle(answer) }
  }

  /// The disk has written the pieces that wait.
  func writePieces() {
    let answers = unwritten
    unwritten = []
    for answer in answers { handle(answer) }
  }

  /// The disk has what descriptions say.
  func describeFiles() {
    let answers = undescribed
    undescribed = []
    for answer in answers { handle(answer) }
  }

  /// The disk has what it was to have.
  func flushFiles() {
    let stores = unflushed
    unflushed = []
    for store in stores { handle(flush(store)) }
  }

  private func flush(_ store: StoreID) -> Event {
    .disk(store, open[store].flatMap { files[$0] } == nil ? .missing : .flushed)
  }

  private func take(_ effects: [Effect]) {
    var answers: [Event] = []
    for effect in effects {
      switch effect {
      case .ask(let flow, let request):
        running[flow] = request
        requested.append(request)
      case .end(let flow):
        running[flow] = nil
        held.remove(flow)
      case .store(let store, let order): if let answer = perform(order, on: store) { answers.append(answer) }
      case .flush(let store):
        flushes += 1
        if flushesAtOnce { answers.append(flush(store)) } else { unflushed.append(store) }
      case .remove(let key, let generation):
        removed.insert(generation)
        if generations[key] ?? generation == generation { files[key] = nil }
        if removesAtOnce { answers.append(.removed(key)) } else { unremoved.append(key) }
      case .measureRoom: answers.append(.room(min(room, capacity - used)))
      case .evict(let candidates, _, _):
        evictions += 1
        let gone = letsGo ? candidates : []
        for candidate in gone { files[candidate.key] = nil }
        if evictsAtOnce {
          answers.append(.evicted(gone.map { GenerationName(key: $0.key, generation: $0.generation) }))
        }
      case .listFiles: if listsAtOnce { answers.append(.found(found)) }
      case .save(let rows, let removed):
        commits += 1
        if savesAtOnce {
          answers.append(write(rows, removed))
        } else {
          unsaved.append((rows, removed))
        }
      case .send(let client, let message): sent.append((client, message))
      case .wake(let time): wake = time
      case .log(let line): logged.append(line)
      case .hold(let flow, let isHeld):
        if isHeld { held.insert(flow) } else { held.remove(flow) }
      case .tell(let keys): told += keys
      case .place, .saveSettings, .idle: break
      }
    }
    // At the same moment.
    for answer in answers { take(engine.handle(answer, at: moment())) }
  }

  private func perform(_ order: StoreOrder, on store: StoreID) -> Event? {
    switch order {
    case .open(let key, let generation):
      if generations[key] == nil { generations[key] = found.last { $0.key == key }?.generation ?? generation }
      guard let file = files[key], generations[key] == generation else { return .disk(store, .missing) }
      note(store, key)
      return .disk(store, .opened(file.representation, present: file.present))
    case .create(let key, let generation, let representation, _):
      files[key] = (representation, ByteRanges())
      generations[key] = generation
      note(store, key)
      let answer = Event.disk(store, .created)
      if createsAtOnce { return answer }
      uncreated.append(answer)
      return nil
    case .write(let flow, let range, let leaving):
      let left = min(room, capacity - used) - range.length
      if let key = open[store], left < (leaving > 256 << 10 ? leaving : 0) {
        let failure = Fault(.noRoom, TransferCore.noSpaceLeft)
        return .disk(store, .failed(failure, present: files[key]?.present ?? ByteRanges()))
      }
      if let key = open[store], range.upperBound > runtimeCapacity {
        let failure = Fault(.runtimeFull, "no space left in the runtime folder")
        return .disk(store, .failed(failure, present: files[key]?.present ?? ByteRanges()))
      }
      if let key = open[store] { files[key]?.present.insert(range) }
      if !writesAtOnce {
        unwritten.append(.disk(store, .wrote(flow, range)))
        return nil
      }
      return .disk(store, .wrote(flow, range))
    case .compare(let flow, let range):
      let agreed = max(min(range.upperBound, sameUpTo) - range.lowerBound, 0)
      return .disk(store, .compared(flow, range, agreed: agreed))
    case .describe(let representation):
      if let key = open[store] { files[key]?.representation = representation }
      if describesAtOnce { return .disk(store, .described) }
      undescribed.append(.disk(store, .described))
      return nil
    case .close:
      open[store] = nil
      return nil
    }
  }

  private var used: Int64 { files.values.reduce(0) { $0 + $1.present.count } }

  private func note(_ store: StoreID, _ key: MediaKey) {
    open[store] = key
    mostOpen = max(mostOpen, open.count)
  }

  func copy(_ index: Int) -> GenerationName {
    let key = requests[index].key
    return GenerationName(key: key, generation: engine.status(of: key)?.generation ?? 0)
  }

  func state(_ index: Int) -> TransferState? { engine.status(of: requests[index].key)?.state }

  func states() -> [TransferState: Int] {
    requests.reduce(into: [:]) { $0[engine.status(of: $1.key)?.state ?? .remote, default: 0] += 1 }
  }
}

// What hosts do.
extension EngineWorld {
  private func flows(_ isAnswered: Bool, _ host: (String) -> Bool) -> [(id: FlowID, request: MediaRequest)] {
    running.filter { answered.contains($0.key) == isAnswered && host($0.value.url) }
      .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Answers the requests for addresses of which `host` says so with a head.
  /// - Parameter length: of the whole; nil for a body without one.
  func answer(
    _ length: Int64?, where host: (String) -> Bool = { _ in true },
    _ change: (inout ResponseHead) -> Void = { _ in }
  ) {
    for (flow, request) in flows(false, host) where running[flow] != nil {
      var head = ResponseHead(status: 200, url: request.url)
      head.entityTag = "\"\(request.url)\""
      head.length = length
      head.acceptsRanges = length != nil
      if let range = request.range, let length {
        head.status = 206
        head.part = range.lowerBound..<(range.upperBound == .max ? length : range.upperBound)
        head.partTotal = length
        head.length = head.part?.length
      }
      change(&head)
      answered.insert(flow)
      handle(.head(flow, head, firstBytes: Array("ID3".utf8) + [UInt8](repeating: 200, count: 509)))
    }
  }

  /// Each response of such addresses brings so many bytes.
  func bring(_ count: Int, where host: (String) -> Bool = { _ in true }) {
    for (flow, _) in flows(true, host) where running[flow] != nil { handle(.came(flow, count)) }
  }

  /// They end; those without a head, too, where that is a failure.
  func end(_ failure: Fault?, where host: (String) -> Bool = { _ in true }) {
    let some = flows(true, host) + (failure == nil ? [] : flows(false, host))
    for (flow, _) in some where running.removeValue(forKey: flow) != nil { handle(.ended(flow, failure)) }
  }
}
