import PodcastModel
import PosixKit
import TransferEngine
import TransferProtocol

/// What is on the simulated disk, and how it behaves.
struct SimulatedDisk {
  struct Name: Hashable {
    var key: MediaKey
    var generation: UInt32
  }
  var files: [Name: SimulatedFile] = [:]
  /// What the daemon has open, also without a name.
  var open: [StoreID: Name] = [:]
  var unlinked: [StoreID: SimulatedFile] = [:]
  /// What is remembered, as programs see it; and as it was after each of the last changes: a power loss may lose them.
  private(set) var store = Remembered() { didSet { engineStore.rows = store.rows } }
  private let engineStore = TestStore()
  private var storeLog: [(time: Int64, rows: Remembered)] = []
  struct Remembered {
    var rows: [MediaKey: TransferStatus] = [:]
    var settings: TransferSettings?
  }
  var rows: [MediaKey: TransferStatus] { store.rows }
  var rowsForEngine: StoredRows { engineStore.stored }
  var unfinished: [TransferStatus] { engineStore.unfinished }
  var settings: TransferSettings? { store.settings }
  /// Names that were taken away a moment ago: a power loss may bring them back.
  private var dead: [(time: Int64, name: Name, file: SimulatedFile)] = []
  /// Whether it says of what it has been given that it is safe, and it is not.
  var lies = false
  private var liesSince: Int64 = .max
  var free: Int64 = 1 << 32
  /// Seconds that writes and flushes take.
  var slowness = 0.0
  var refusesWrites = false
  /// Whether it takes nothing though it says that there is room: a quota.
  var hasQuota = false
  /// Episodes that somebody else has open.
  var heldElsewhere: Set<MediaKey> = []
  var refusesFlushes = false
  var refusesOpens = false
  var refusesRows = false
  var refusesRemovals = false
  /// Numbers that were given to a file's bytes, and to which.
  var given: [Name: Set<SimulatedVersion>] = [:]

  func file(_ key: MediaKey, _ generation: UInt32) -> SimulatedFile? {
    files[Name(key: key, generation: generation)]
  }

  func delay(_ lane: String, _ random: inout SplitMix) -> Double {
    let isData = lane.hasPrefix("files") || lane.hasPrefix("flush")
    return isData ? slowness * Double(random.below(100)) / 50 + 0.0001 : 0.0001
  }

  func found() -> [FoundFile] {
    files.filter(\.value.isLinked).map { name, file in
      FoundFile(key: name.key, generation: name.generation, size: file.wholeSize, written: file.changed)
    }
  }

  mutating func unlink(_ key: MediaKey, _ generation: UInt32, at time: Int64) {
    let name = Name(key: key, generation: generation)
    guard let file = files.removeValue(forKey: name) else { return }
    dead.removeAll { $0.time < time - Self.namesSettle }
    dead.append((time, name, file))
    var isOpen = false
    for (id, other) in open where other == name {
      unlinked[id] = file
      isOpen = true
    }
    if !isOpen { free += file.room }
  }

  mutating func closeAll() {
    for file in unlinked.values { free += file.room }
    open = [:]
    unlinked = [:]
  }

  mutating func close(_ id: StoreID) {
    open[id] = nil
    if let file = unlinked.removeValue(forKey: id) { free += file.room }
  }

  /// The file that a store has open, and a change to it.
  func opened(_ id: StoreID) -> SimulatedFile? { unlinked[id] ?? open[id].flatMap { files[$0] } }

  mutating func change(_ id: StoreID, _ body: (inout SimulatedFile) -> Void) {
    guard var file = opened(id) else { return }
    let before = file.room
    body(&file)
    free -= file.room - before
    if unlinked[id] != nil { unlinked[id] = file } else if let name = open[id] { files[name] = file }
  }

  /// In nanoseconds: how long names may take to reach the disk, by the system's own time. Rows are there at once.
  private static let namesSettle: Int64 = 5_000_000_000
  private static let rowsSettle: Int64 = 0

  mutating func remember(at time: Int64, _ change: (inout Remembered) -> Void) {
    liesSince = lies ? min(liesSince, time) : .max
    let settled = min(time - Self.rowsSettle, liesSince)
    // The last one that is safe stays.
    while storeLog.count > 1, storeLog[1].time <= settled { storeLog.removeFirst() }
    if storeLog.isEmpty { storeLog.append((time, store)) }
    change(&store)
    storeLog.append((time, store))
  }

  /// What a power loss has done.
  struct PowerLoss {
    var facts: [String] = []
    /// Rows that were lost.
    var rows: Set<MediaKey> = []
    /// Bytes of episodes that the disk had said it had, and had not: nobody could know.
    var bytesOfLies: [MediaKey: Int64] = [:]
  }

  /// The machine dies: some of what had not reached the disk is lost.
  mutating func losePower(at time: Int64, _ random: inout SplitMix) -> PowerLoss {
    var loss = PowerLoss()
    for name in files.keys.sorted(by: { ($0.key, $0.generation) < ($1.key, $1.generation) }) {
      guard var file = files[name] else { continue }
      free += file.room
      files[name] = nil
      if file.bytesOfLies > 0 { loss.bytesOfLies[name.key, default: 0] += file.bytesOfLies }
      if !file.isSettled && random.chance(1, 3) {
        loss.facts.append("files that a power loss took")
        continue
      }
      file.losePower(&random)
      if !file.lost.isEmpty { loss.facts.append("files of which a disk that lied has lost some") }
      files[name] = file
      free -= file.room
    }
    for (since, name, file) in dead where since >= time - Self.namesSettle && files[name] == nil {
      guard file.isSettled, random.chance(1, 2) else { continue }
      var file = file
      file.losePower(&random)
      files[name] = file
      free -= file.room
      loss.facts.append("names that came back")
    }
    dead = []
    let settled = min(time - Self.rowsSettle, liesSince)
    while storeLog.count > 1, storeLog[1].time <= settled { storeLog.removeFirst() }
    let before = store.rows
    if let kept = storeLog.randomElement(using: &random) { store = kept.rows }
    storeLog = []
    let keys = Set(before.keys).union(store.rows.keys)
    loss.rows = keys.filter { before[$0] != store.rows[$0] }
    if !loss.rows.isEmpty { loss.facts.append("stores that lost their last rows") }
    return loss
  }
}

extension SimulatedFile {
  /// The size of one whose name says that it is complete.
  fileprivate var wholeSize: Int64? {
    guard let total = journal.representation.total, journal.durable.contains(0..<total) else { return nil }
    return total
  }
}

// What the engine orders.
extension Simulation {
  func store(_ id: StoreID, _ order: StoreOrder) {
    let lane: (MediaKey) -> String = { "files \($0)" }
    switch order {
    case .open(let key, let generation):
      storeKeys[id] = key
      job(lane(key), 0.001) { [self] in .disk(id, openFile(id, key, generation)) }
    case .create(let key, let generation, let representation, let leaving):
      storeKeys[id] = key
      job(lane(key), 0.001) { [self] in .disk(id, createFile(id, key, generation, representation, leaving)) }
    case .write(let flow, let range, let leaving):
      guard let response = responses[flow], let key = storeKeys[id] else { return }
      if range.upperBound > response.at + response.shift {
        fail("writes \(range), which has not come: \(response)")
      }
      let version = response.version
      let shift = response.shift
      if shift != 0, response.start + shift != range.lowerBound, shift < 0 { fail("odd place") }
      job(lane(key), 0.0002) { [self] in .disk(id, write(id, flow, range, version, leaving)) }
    case .compare(let flow, let range):
      guard let response = responses[flow], let key = storeKeys[id] else { return }
      let version = response.version
      job(lane(key), 0.0002) { [self] in
        let agreed = disk.opened(id)?.agreement(range, with: version) ?? 0
        // It is another file: what came while a slow disk compared comes again, as much as memory holds.
        if agreed < range.length && disk.slowness > 0,
          let index = episodes.firstIndex(where: { $0.key == key })
        {
          episodes[index].mayComeAgain += Limits.heldEach.most
        }
        return .disk(id, .compared(flow, range, agreed: agreed))
      }
    case .describe(let representation):
      guard let key = storeKeys[id] else { return }
      job(lane(key), 0.0002) { [self] in
        disk.change(id) { $0.describe(representation) }
        return .disk(id, .described)
      }
    case .close(let isComplete):
      guard let key = storeKeys.removeValue(forKey: id) else { return }
      job(lane(key), 0.0002) { [self] in
        if isComplete { disk.change(id) { $0.hasMap = false } }
        disk.close(id)
        forgive(key)
        return nil
      }
    }
  }

  private func openFile(_ id: StoreID, _ key: MediaKey, _ generation: UInt32) -> DiskAnswer {
    if disk.refusesOpens { return .failed(Fault(.passing, "too many files"), present: ByteRanges()) }
    guard disk.file(key, generation) != nil else { return .missing }
    disk.open[id] = SimulatedDisk.Name(key: key, generation: generation)
    disk.change(id) { file in
      if file.check() > 0 { count("files whose checksums told what was lost") }
      file.hasMap = true
    }
    guard let file = disk.file(key, generation) else { return .missing }
    forgive(key)
    return .opened(file.representation, present: file.written)
  }

  private func createFile(
    _ id: StoreID, _ key: MediaKey, _ generation: UInt32, _ representation: Representation, _ leaving: Int64
  ) -> DiskAnswer {
    let least = min(representation.total ?? .max, 256 << 10)
    if disk.free - least < leaving || disk.hasQuota {
      return .failed(Fault(.noRoom, "no room"), present: ByteRanges())
    }
    if disk.refusesOpens { return .failed(Fault(.passing, "read-only"), present: ByteRanges()) }
    let name = SimulatedDisk.Name(key: key, generation: generation)
    if disk.given[name] != nil { fail("gives a number twice") }
    disk.given[name] = []
    let file = SimulatedFile(representation, changed: wall)
    disk.files[name] = file
    disk.free -= file.room
    disk.open[id] = name
    return .created
  }

  private func write(
    _ id: StoreID, _ flow: FlowID, _ range: Range<Int64>, _ version: SimulatedVersion,
    _ leaving: Int64
  ) -> DiskAnswer {
    func refuse(_ kind: Fault.Kind, _ why: String) -> DiskAnswer {
      forgive(episodes[version.episode].key)
      return .failed(
        Fault(kind, why), present: disk.opened(id)?.written ?? ByteRanges())
    }
    guard let file = disk.opened(id) else { return refuse(.passing, "not open") }
    if disk.refusesWrites { return refuse(.lasting, "I/O error") }
    if disk.hasQuota { return refuse(.noRoom, "quota exceeded") }
    if disk.free - file.room(for: range) < leaving && disk.free >= file.room(for: range) {
      return refuse(.noRoom, "no room")
    }
    if disk.free < file.room(for: range) {
      // As far as it goes: the daemon gives back what an unfinished piece has taken.
      var end = range.lowerBound
      while case let next = (end / 131_072 + 1) * 131_072, next < range.upperBound,
        file.room(for: range.lowerBound..<next) <= disk.free
      {
        end = next
      }
      if end > range.lowerBound { disk.change(id) { $0.write(range.lowerBound..<end, version) } }
      return refuse(.noRoom, "no room")
    }
    disk.change(id) { $0.write(range, version) }
    checkBudget(episodes[version.episode].key, range.length)
    if disk.free < settings.minimumFree && !wasBallastMoved {
      fail("writes \(range) into min_free: \(disk.free) left")
    }
    if let total = file.representation.total, range.upperBound > total {
      fail("writes \(range) behind \(total)")
    }
    // Bytes of two representations are never mixed.
    if let name = disk.open[id], let changed = disk.opened(id) {
      let episode = episodes[version.episode]
      if changed.candidates(episode.versions).isEmpty {
        fail("mixed bytes in \(name.key.text.suffix(2)).\(name.generation): \(changed.segments)")
      }
      disk.given[name, default: []].insert(version)
    }
    return .wrote(flow, range)
  }

  func flush(_ id: StoreID) {
    guard let key = storeKeys[id] else { return }
    if flushing.contains(id) { fail("two flushes of one episode wait") }
    flushing.insert(id)
    job("flush \(key)", 0.01) { [self] in
      flushing.remove(id)
      guard let file = disk.opened(id) else { return .disk(id, .flushed) }
      if disk.refusesFlushes {
        // The system forgets what it could not write.
        let durable = file.journal.durable
        disk.change(id) { $0.forget(except: durable) }
        beyondBudget = max(beyondBudget - max(file.written.count - durable.count, 0), 0)
        forgive(key)
        return .disk(id, .notFlushed(Fault(.lasting, "I/O error"), present: durable))
      }
      // The journal grows.
      if disk.hasQuota || disk.free < 4096 && file.journalBytes % 4096 > 4096 - 100 {
        return .disk(id, .notFlushed(Fault(.noRoom, "no room"), present: file.written))
      }
      let lies = disk.lies
      if lies { count("flushes that lied") }
      disk.change(id) { $0.flush(isTrue: !lies) }
      return .disk(id, disk.unlinked[id] == nil ? .flushed : .missing)
    }
  }

  func evict(_ candidates: [GenerationName], _ count: Int64, _ more: Int64) -> Event {
    var left = count
    var gone: [GenerationName] = []
    for candidate in candidates {
      if left <= 0 && candidate.size > left + more { break }
      let isOpen = clients.contains { client in
        client.handles.values.contains { $0.key == candidate.key && $0.generation == candidate.generation }
      }
      if isOpen || disk.heldElsewhere.contains(candidate.key) {
        self.count("evictions refused")
        continue
      }
      if kept.contains(candidate.key) { fail("evicts what is kept") }
      disk.unlink(candidate.key, candidate.generation, at: time)
      forgive(candidate.key)
      beyondBudget = 0
      gone.append(GenerationName(key: candidate.key, generation: candidate.generation))
      // Also of an order that has been obeyed, and not confirmed.
      forgetPromises(of: candidate.key)
      left -= candidate.size
      self.count("evictions")
    }
    return .evicted(gone)
  }

  func save(_ records: [TransferStatus], _ removed: [MediaKey]) {
    job("store", 0.005) { [self] in
      if disk.refusesRows {
        count("rows refused")
        return .saved(TransferFailure(random.chance(1, 2) ? .ENOSPC : .EIO, "the disk is full"))
      }
      disk.remember(at: time) { store in
        for record in records { store.rows[record.key] = record }
        for key in removed { store.rows[key] = nil }
      }
      return .saved(nil)
    }
  }
}
