package import PodcastModel
package import TransferProtocol

/// Rows of the store. Those of downloads at rest are read when they are needed: memory does not grow with them.
package struct StoredRows: Hashable, Sendable {
  package enum Choice: Sendable {
    case all
    /// Those of which the cache has bytes; those that may be evicted.
    case cached, evictable
  }
  package var record: @Sendable (MediaKey) -> TransferStatus? = { _ in nil }
  package var names: @Sendable (Choice) -> [GenerationName] = { _ in [] }
  package var bytes: Int64 = 0

  package init() {}
  // It stands for the store, which is no part of the core's state.
  package static func == (a: StoredRows, b: StoredRows) -> Bool { true }
  package func hash(into hasher: inout Hasher) {}
}

/// All downloads: values of the active ones, rows of the others. An event costs what is active.
struct DownloadTable: Hashable {
  private(set) var active: [MediaKey: Download] = [:]
  private(set) var dirty: Set<MediaKey> = []
  /// Bytes of all episodes, which count in `cache_size`.
  private(set) var bytes: Int64
  private let rows: StoredRows

  init(_ rows: StoredRows) { (self.rows, bytes) = (rows, rows.bytes) }

  private func resting(_ choice: StoredRows.Choice) -> [GenerationName] {
    rows.names(choice).filter { active[$0.key] == nil }
  }

  var keys: [MediaKey] { active.keys + resting(.all).map(\.key) }
  func status(of key: MediaKey) -> TransferStatus? { active[key]?.status ?? rows.record(key) }
  func record(of key: MediaKey) -> TransferStatus? { active[key]?.record ?? rows.record(key) }
  func hasRow(_ key: MediaKey) -> Bool { active[key].map { $0.told.row != nil } ?? (rows.record(key) != nil) }

  /// Whether nothing of the download is here: it was dropped or evicted, or no byte ever came.
  func isEmptied(_ key: MediaKey) -> Bool {
    guard hasRow(key), active[key]?.content ?? .nothing == .nothing else { return false }
    return record(of: key).map { $0.state == .remote && $0.received == 0 } ?? false
  }

  /// Takes a download out, so that it can be changed; `put` must follow.
  mutating func take(_ key: MediaKey, now: Moment) -> Download? {
    if let download = active.removeValue(forKey: key) {
      bytes -= download.budgeted
      return download
    }
    guard let record = rows.record(key) else { return nil }
    bytes -= record.budgeted
    var download = Download(record, isStored: true, now: now)
    download.isDirty = false
    return download
  }

  mutating func put(_ download: Download) {
    bytes += download.budgeted
    if download.isDirty { dirty.insert(download.key) } else { dirty.remove(download.key) }
    active[download.key] = download
  }

  /// Leaves a download to its row, or forgets one that has none.
  mutating func rest(_ key: MediaKey) {
    guard let download = active.removeValue(forKey: key) else { return }
    bytes += (download.told.row?.budgeted ?? 0) - download.budgeted
    dirty.remove(key)
  }

  /// In the queue's order.
  mutating func takeDirty() -> [MediaKey] {
    defer { dirty = [] }
    return inOrder(dirty)
  }

  func inOrder(_ keys: Set<MediaKey>) -> [MediaKey] {
    if keys.count < 2 { return Array(keys) }
    return keys.map { (active[$0]?.record.order ?? 0, $0) }.sorted { $0 < $1 }.map(\.1)
  }

  /// What may be evicted: nothing that is open, kept, wanted or paused.
  var evictable: [GenerationName] {
    let idle = active.values.filter {
      $0.demand == .none && $0.readers.isEmpty && $0.fetches.isEmpty && $0.files == nil
    }
    let known = idle.map(\.status).filter(\.isEvictable)
      .map { GenerationName(key: $0.key, generation: $0.generation, size: $0.received) }
    return (resting(.evictable) + known).sorted { $0.key < $1.key }
  }

  func storedName(of key: MediaKey) -> GenerationName? {
    let download = active[key]
    guard let record = record(of: key), download?.files.map({ $0.isOpen && $0.isLinked }) ?? true else {
      return nil
    }
    let isHere = download.map { $0.content != .nothing } ?? (record.received > 0 || record.state == .cached)
    return isHere && record.generation > 0 ? GenerationName(key: key, generation: record.generation) : nil
  }
}
