internal import PodcastModel
internal import TransferProtocol

/// Which background downloads run: those that run already, then the queue in its order, as the limits allow.
struct Scheduler: Hashable {
  struct Entry: Hashable {
    /// Whether its last tries brought nothing: it comes behind all others, or enough slow hosts could starve everybody.
    var isTired: Bool
    var order: Int64
    var key: MediaKey
    var host: String
    var until: Instant?
    var isRunning: Bool
    var isSlow = false

    static func isBefore(_ a: Entry, _ b: Entry) -> Bool {
      a.isTired == b.isTired ? (a.order, a.key) < (b.order, b.key) : b.isTired
    }
  }

  private var entries: [MediaKey: Entry] = [:]
  private var running: Set<MediaKey> = []
  /// The others, in their order.
  private var line: [Entry] = []
  /// Those that have a slot, or were found to have no room.
  private(set) var placed: Set<MediaKey> = []
  var isChanged = true
  /// Whether a download whose turn it is has no room in the cache.
  var isStarving = false
  /// Until when slots that the user has freed stay free: of a thousand that are paused, not each begins before.
  var quietUntil = Instant(nanoseconds: 0)

  /// Takes in what a download is now; nil where it needs no slot.
  mutating func note(_ key: MediaKey, _ entry: Entry?, isPlaced: Bool) {
    if isPlaced { placed.insert(key) } else { placed.remove(key) }
    let old = entries[key]
    if old == entry { return }
    if let old, !old.isRunning, let index = index(of: old) { line.remove(at: index) }
    entries[key] = entry
    if let entry, entry.isRunning { running.insert(key) } else { running.remove(key) }
    if let entry, !entry.isRunning { line.insert(entry, at: lowerBound(entry)) }
  }

  private func lowerBound(_ entry: Entry) -> Int {
    var (low, high) = (0, line.count)
    while low < high {
      let middle = (low + high) / 2
      if Entry.isBefore(line[middle], entry) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func index(of entry: Entry) -> Int? {
    let index = lowerBound(entry)
    return index < line.count && line[index].key == entry.key ? index : nil
  }

  var waiting: [MediaKey] { line.map(\.key) }

  func isWaiting(_ key: MediaKey) -> Bool { entries[key]?.isRunning == false }

  func choose(_ settings: TransferSettings, at now: Instant, isCoolingDown: (String) -> Bool) -> [MediaKey] {
    var used: [String: Int64] = [:]
    var chosen: [MediaKey] = []
    let running = running.compactMap({ entries[$0] }).sorted(by: Entry.isBefore)
    // One that brings next to nothing keeps its slot while nobody else needs it.
    for entry in running.filter({ !$0.isSlow }) + line + running.filter(\.isSlow) {
      if chosen.count >= settings.downloads { break }
      if entry.until.map({ $0 > now }) ?? false { continue }
      if !entry.isRunning && isCoolingDown(entry.host) { continue }
      guard used[entry.host, default: 0] < settings.perHost else { continue }
      used[entry.host, default: 0] += 1
      chosen.append(entry.key)
    }
    return chosen
  }
}

extension Download {
  var schedulerEntry: Scheduler.Entry? {
    guard isBackground else { return nil }
    return Scheduler.Entry(
      isTired: retry.attempts > 1, order: record.order, key: key, host: source.named,
      until: retry.until, isRunning: !fetches.isEmpty, isSlow: meter.isSlow)
  }
}
