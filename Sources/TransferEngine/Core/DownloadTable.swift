package import PodcastModel
package import TransferProtocol

/// Rows of the store that nothing has been done for since the start: they are read when they are needed, so that memory
/// does not grow with what was downloaded in years.
package struct StoredRows: Hashable, Sendable {
  package enum Choice: Sendable {
    case all
    /// Those of which the cache has bytes; those that may be evicted.
    case cached, evictable
    /// Those that are remembered for their size alone, but for the latest `Limits.restingRows`.
    case surplus
  }
  package var record: @Sendable (MediaKey) -> TransferRecord? = { _ in nil }
  package var names: @Sendable (Choice) -> [GenerationName] = { _ in [] }
  /// Bytes of all together.
  package var bytes: Int64 = 0

  package init() {}

  // It stands for the store, which is no part of the core's state.
  package static func == (a: StoredRows, b: StoredRows) -> Bool { true }
  package func hash(into hasher: inout Hasher) {}
}

/// All downloads: records of those at rest, and values of those that something is to be done for. An event costs what is
/// active, not what was downloaded in years.
struct DownloadTable: Hashable {
  private struct Resting: Hashable {
    var record: TransferRecord
    var moment: Int64
    /// Whether the store has it.
    var isStored: Bool
  }
  private var resting: [MediaKey: Resting] = [:]
  private(set) var active: [MediaKey: Download] = [:]
  private var dirty: Set<MediaKey> = []
  /// Bytes in the cache.
  private(set) var bytes: Int64 = 0
  /// Those whose responses are under way, and those that wait for room.
  private(set) var running: Set<MediaKey> = []
  private(set) var starving: Set<MediaKey> = []
  private let rows: StoredRows
  /// Those of `rows` that were forgotten.
  private var forgotten: Set<MediaKey> = []

  /// - Parameter rows: the store's; `records` are some of them.
  init(_ records: [TransferRecord], _ rows: StoredRows) {
    self.rows = rows
    bytes = rows.bytes
    for record in records {
      resting[record.key] = Resting(record: record, moment: 0, isStored: true)
      if rows.bytes == 0 { bytes += record.received }
    }
  }

  /// What is only in the store.
  private func stored(_ choice: StoredRows.Choice) -> [GenerationName] {
    rows.names(choice).filter {
      active[$0.key] == nil && resting[$0.key] == nil && !forgotten.contains($0.key)
    }
  }

  private func rest(of key: MediaKey) -> Resting? {
    if let entry = resting[key] { return entry }
    if active[key] != nil || forgotten.contains(key) { return nil }
    return rows.record(key).map { Resting(record: $0, moment: 0, isStored: true) }
  }

  var keysInMemory: Set<MediaKey> { Set(resting.keys).union(active.keys) }
  var keys: [MediaKey] { keysInMemory + stored(.all).map(\.key) }
  var hasDirty: Bool { !dirty.isEmpty }

  func status(of key: MediaKey) -> TransferStatus? {
    if let download = active[key] { return download.status }
    return rest(of: key).map { entry in
      var status = entry.record.status
      status.moment = entry.moment
      return status
    }
  }

  func record(of key: MediaKey) -> TransferRecord? { active[key]?.record ?? rest(of: key)?.record }

  /// Whether it was dropped or evicted, or nothing of it ever came.
  func isEmptied(_ key: MediaKey) -> Bool {
    guard let record = record(of: key), active[key]?.content ?? .nothing == .nothing else { return false }
    return record.state == .remote && record.received == 0
  }

  func contains(_ key: MediaKey) -> Bool { active[key] != nil || rest(of: key) != nil }

  /// Takes a download out, so that it can be changed; `put` must follow.
  mutating func take(_ key: MediaKey, now: Moment) -> Download? {
    if let download = active.removeValue(forKey: key) {
      bytes -= download.received
      return download
    }
    guard let entry = rest(of: key) else { return nil }
    resting[key] = nil
    bytes -= entry.record.received
    var download = Download(entry.record, moment: entry.moment, isStored: entry.isStored, now: now)
    download.isDirty = false
    return download
  }

  mutating func put(_ download: Download) {
    let key = download.key
    bytes += download.received
    set(&dirty, key, download.isDirty)
    set(&running, key, !download.fetches.isEmpty)
    set(&starving, key, download.demand == .starved || download.slot == .cacheFull)
    active[key] = download
    if !forgotten.isEmpty { forgotten.remove(key) }
  }

  private func set(_ list: inout Set<MediaKey>, _ key: MediaKey, _ isIn: Bool) {
    if isIn { list.insert(key) } else if !list.isEmpty { list.remove(key) }
  }

  /// Puts a download that the store knows as it is to rest.
  mutating func rest(_ key: MediaKey) {
    guard let download = active.removeValue(forKey: key) else { return }
    bytes -= download.received
    var record = download.row
    record.received = download.received
    bytes += record.received
    resting[key] = Resting(
      record: record, moment: download.told.moment, isStored: download.told.row != nil)
    for list in [\DownloadTable.dirty, \.running, \.starving] { self[keyPath: list].remove(key) }
  }

  mutating func forget(_ key: MediaKey) {
    if let download = active.removeValue(forKey: key) { bytes -= download.received }
    if let entry = rest(of: key) { bytes -= entry.record.received }
    resting[key] = nil
    if rows.record(key) != nil { forgotten.insert(key) }
    for list in [\DownloadTable.dirty, \.running, \.starving] { self[keyPath: list].remove(key) }
  }

  /// Those with changes whose consequences are not done, in the queue's order.
  mutating func takeDirty() -> [MediaKey] {
    defer { dirty = [] }
    return inOrder(dirty)
  }

  var runningInOrder: [MediaKey] { inOrder(running) }
  var starvingInOrder: [MediaKey] { inOrder(starving) }

  func inOrder(_ keys: Set<MediaKey>) -> [MediaKey] {
    if keys.count < 2 { return Array(keys) }
    return keys.map { (active[$0]?.record.order ?? 0, $0) }.sorted { $0 < $1 }.map(\.1)
  }

  /// What may be evicted: nothing that is open, kept, wanted or paused.
  var evictable: [GenerationName] {
    let idle = active.values.filter {
      $0.demand == .none && $0.readers.isEmpty && $0.fetches.isEmpty && $0.files == nil
    }
    let records = idle.map { download in
      var record = download.record
      record.state = download.state
      return record
    }
    let known = (resting.values.map(\.record) + records).filter(\.isEvictable)
      .map { GenerationName(key: $0.key, generation: $0.generation, size: $0.received) }
    return (stored(.evictable) + known).sorted { $0.key < $1.key }
  }

  /// Those at rest of which nothing need be remembered: all without even a size, and of too many the oldest.
  func forgettable(beyond most: Int) -> [(key: MediaKey, isStored: Bool)] {
    var (gone, kept): ([Resting], [Resting]) = ([], [])
    for entry in resting.values where entry.record.holdsNothing {
      let isKnown = entry.record.total != nil || entry.record.generation > 0
      if entry.isStored && isKnown { kept.append(entry) } else { gone.append(entry) }
    }
    if kept.count > most {
      kept.sort { ($0.record.changed, $0.record.key) < ($1.record.changed, $1.record.key) }
      gone += kept.prefix(kept.count - most)
    }
    return (gone.map { ($0.record.key, $0.isStored) } + stored(.surplus).map { ($0.key, true) })
      .sorted { $0.0 < $1.0 }
  }

  func storedName(of key: MediaKey) -> GenerationName? {
    if let download = active[key] { return download.storedName }
    return rest(of: key).flatMap { Self.storedName($0.record) }
  }

  private static func storedName(_ record: TransferRecord) -> GenerationName? {
    let isHere = record.received > 0 || record.state == .cached
    return isHere ? GenerationName(key: record.key, generation: record.generation) : nil
  }
}

extension Download {
  fileprivate var storedName: GenerationName? {
    guard record.generation > 0, content != .nothing, files.map({ $0.isOpen && $0.isLinked }) ?? true else {
      return nil
    }
    return GenerationName(key: key, generation: record.generation)
  }
}
