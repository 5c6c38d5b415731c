internal import PodcastModel
internal import TransferProtocol

/// All downloads, with those that something is to be done for apart, and those that wait for a slot in their order:
/// what is looked at with every event must not grow with what was downloaded in years, nor with what waits.
struct DownloadTable {
  private(set) var all: [MediaKey: Download] = [:]
  /// What somebody wants or has open, and what has just changed.
  private(set) var busy: [MediaKey: Download] = [:]
  /// Whose responses are under way.
  private var running: [MediaKey: Download] = [:]
  /// Who waits for a slot, host by host.
  private(set) var lines: [WaitingLine.Name: WaitingLine] = [:]
  /// Who has a slot, or was told that there is no room for one.
  private(set) var placed: [MediaKey: Download] = [:]
  /// Who waits for room on the disk or in the budget.
  private var starving: [MediaKey: Download] = [:]
  /// Whose files are open, so that what is here of them changes by itself.
  private var open: [MediaKey: Download] = [:]
  /// Bytes of all, as of when each was last noted.
  private var notedBytes: Int64 = 0

  /// Bytes in the cache.
  var bytes: Int64 { open.values.reduce(notedBytes) { $0 + $1.received - $1.notedBytes } }

  /// Those of `busy`, always in the same order.
  var busyInOrder: [Download] { Self.inOrder(busy) }

  /// Whose responses are under way, in the order of the queue.
  var runningInOrder: [Download] { Self.inOrder(running) }

  /// Who waits for room, in the order of the queue.
  var starvingInOrder: [Download] { Self.inOrder(starving) }

  var isAnyStarving: Bool { !starving.isEmpty }

  subscript(key: MediaKey) -> Download? { all[key] }

  /// Adds one that is at rest.
  mutating func insert(_ download: Download) {
    all[download.key] = download
    note(download)
  }

  /// It changes, or is about to.
  mutating func rouse(_ download: Download) { busy[download.key] = download }

  /// Puts it to rest where nothing is to be done for it.
  mutating func settle(_ download: Download) {
    if !download.isBusy { busy[download.key] = nil }
    note(download)
  }

  /// Forgets one that is at rest.
  mutating func remove(_ download: Download) {
    guard busy[download.key] == nil, all.removeValue(forKey: download.key) != nil else { return }
    notedBytes -= download.notedBytes
    download.notedBytes = 0
    for list in [\DownloadTable.running, \.placed, \.starving, \.open] {
      self[keyPath: list][download.key] = nil
    }
    leaveLine(download)
  }

  /// Sorts it in anew, after it has changed.
  mutating func note(_ download: Download) {
    // What is forgotten stays so.
    guard all[download.key] === download else { return }
    let key = download.key
    running[key] = download.flows.isEmpty ? nil : download
    placed[key] = download.hasSlot || download.record.error == Engine.cacheIsFull ? download : nil
    starving[key] = download.waitsForRoom || download.waitsToFlush ? download : nil
    open[key] = download.store == nil ? nil : download
    notedBytes += download.received - download.notedBytes
    download.notedBytes = download.received
    let isWaiting = download.isBackground && download.flows.isEmpty
    let place = isWaiting ? WaitingLine.Place(download) : nil
    if place == download.place { return }
    leaveLine(download)
    download.place = place
    if let place { lines[place.line, default: WaitingLine()].insert(place.rank, download) }
  }

  /// Whether what was noted is so. Looked at where that is quickly done.
  var isTrue: Bool {
    if all.count > 100 { return true }
    let isEachWhereItBelongs = all.values.allSatisfy { download in
      let place = download.isBackground && download.flows.isEmpty ? WaitingLine.Place(download) : nil
      let waits = lines[WaitingLine.Name(host: download.host, sender: download.sender)]?.members ?? []
      return place == download.place && (place == nil || waits.contains { $0.download === download })
        && (running[download.key] == nil) == download.flows.isEmpty
    }
    return isEachWhereItBelongs && bytes == all.values.reduce(0) { $0 + $1.received }
  }

  private mutating func leaveLine(_ download: Download) {
    guard let place = download.place else { return }
    download.place = nil
    lines[place.line]?.remove(place.rank)
    if lines[place.line]?.isEmpty == true { lines[place.line] = nil }
  }

  private static func inOrder(_ some: [MediaKey: Download]) -> [Download] {
    some.values.sorted { ($0.record.order, $0.key) < ($1.record.order, $1.key) }
  }
}
