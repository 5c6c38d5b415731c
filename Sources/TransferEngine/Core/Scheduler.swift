internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Which background downloads run: those that run already, then the queue in its order, as the limits allow.
struct Scheduler: Hashable {
  struct Entry: Hashable, Comparable {
    var rank: Rank
    var order: Int64
    var key: MediaKey
    var host: String
    var until: Instant?

    static func < (a: Entry, b: Entry) -> Bool {
      (a.rank.rawValue, a.order, a.key) < (b.rank.rawValue, b.order, b.key)
    }
  }

  enum Rank: Int {
    case running, waiting
    /// Its last tries brought nothing: it comes behind all others, or enough slow hosts could starve everybody.
    case tired
    /// It brings next to nothing: it keeps its slot while nobody else needs it.
    case crawling

    var isRunning: Bool { self == .running || self == .crawling }
  }

  private var entries: [MediaKey: Entry] = [:]
  private var sorted: [Entry] = []
  /// Those that have a slot, or were found to have no room.
  private(set) var placed: Set<MediaKey> = []
  var isChanged = true
  /// Whether a download whose turn it is has no room in the cache.
  var isStarving = false

  /// Takes in what a download is now; nil where it needs no slot.
  mutating func note(_ key: MediaKey, _ entry: Entry?, isPlaced: Bool) {
    if isPlaced { placed.insert(key) } else { placed.remove(key) }
    let old = entries[key]
    if old == entry { return }
    if let old { sorted.remove(at: place(of: old)) }
    entries[key] = entry
    if let entry { sorted.insert(entry, at: place(of: entry)) }
  }

  private func place(of entry: Entry) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < entry { low = middle + 1 } else { high = middle }
    }
    return low
  }

  var waiting: [MediaKey] { sorted.filter { !$0.rank.isRunning }.map(\.key) }
  func isWaiting(_ key: MediaKey) -> Bool { entries[key]?.rank.isRunning == false }

  func choose(_ settings: TransferSettings, at now: Instant, isCoolingDown: (Entry) -> Bool) -> [MediaKey] {
    var used: [String: Int64] = [:]
    var chosen: [MediaKey] = []
    for entry in sorted {
      if chosen.count >= settings.downloads { break }
      if entry.until.map({ $0 > now }) ?? false || !entry.rank.isRunning && isCoolingDown(entry) { continue }
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
    let rank: Scheduler.Rank =
      if fetches.isEmpty { retry.attempts > 1 ? .tired : .waiting } else {
        meter.isSlow ? .crawling : .running
      }
    return Scheduler.Entry(
      rank: rank, order: record.order, key: key, host: source.named, until: retry.until)
  }
}
