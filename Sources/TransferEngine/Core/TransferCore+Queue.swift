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
      if entry.until.map({ $0 > now }) ?? false || !entry.rank.isRunning && isCoolingDown(entry)
        || used[entry.host, default: 0] >= settings.perHost
      {
        continue
      }
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

extension TransferCore {
  /// Gives slots to those that run already, then by order, as `downloads`, `per_host` and the room allow.
  mutating func assignSlots() {
    if rest != nil { return }
    let (hosts, instant) = (hosts, now.instant)
    let chosen = scheduler.choose(settings, at: instant) {
      hosts.isResting($0.host, for: $0.key, at: instant)
    }
    let admitted = withRoom(chosen)
    let isChosen = Set(chosen)
    for key in scheduler.placed.union(isChosen).sorted() {
      guard let download = downloads.active[key] else { continue }
      let slot: Slot =
        if !download.isBackground || !isChosen.contains(key) { .none } else {
          admitted.contains(key) ? .granted : .cacheFull
        }
      if slot == download.slot { continue }
      change(key, isQuiet: true) { _, download in (download.slot, download.isDirty) = (slot, true) }
    }
  }

  mutating func letBackground(_ new: BackgroundRest?) {
    if new == rest { return }
    rest = new
    reconsider()
    changeAll(where: \.isBackground)
  }

  /// Does what `download` needs by now: the one place where responses are asked for and given up.
  mutating func update(_ download: inout Download) {
    if download.fetches.isEmpty { download.refusesBeside = false }
    if let rest { download.slot = download.isBackground ? .resting(rest) : .none }
    // Where its files may be found or are being let go of, that is known in a moment.
    if phase == .listing && download.content == .nothing || space.evicting.contains(download.key) { return }
    // An order on its way may be to keep it, or to download it.
    if download.record.dropsAtClose, !log.ordered.contains(download.key) { dropIfClosed(&download) }
    // An order that removes its files is on its way: what comes now would be thrown away.
    if log.isDropping(download.key) { return endFetches(of: &download) }
    endSearchIfOverdue(&download)
    prepareFiles(of: &download)
    complete(&download)
    answerReaders(of: &download)
    let isDue = isDue(\.until, &download)
    let waits = download.fetchableWaits
    let isOfUse = download.isRunnable || !waits.isEmpty || download.readsThrough
    if phase == .stopping || !isOfUse || download.isSearching {
      if isDue && download.meter.isSlow && download.isWanted {
        handle(Fault(.passing, "\(download.source.named) sends almost nothing"), of: &download)
      }
      if !download.fetches.isEmpty { download.retry.excuseHost() }
      endFetches(of: &download)
    } else if isDue {
      ask(&download, waits)
    }
    for fetch in download.fetches { pump(fetch.id, &download) }
    if download.fetches.isEmpty { download.meter = RateMeter() }
    releaseFiles(of: &download)
  }

  /// Whether the host, or the disk, may be asked again; if not, the download is looked at again when it may.
  mutating func isDue(_ wait: WritableKeyPath<Retry, Instant?>, _ download: inout Download) -> Bool {
    guard isPast(download.retry[keyPath: wait], for: download.key) else { return false }
    download.retry[keyPath: wait] = nil
    return true
  }

  /// All is here: nothing is left to wait for, also where it was paused or nobody wanted it whole.
  private mutating func complete(_ download: inout Download) {
    guard let files = download.openFiles, files.isComplete else { return }
    if download.content != .whole {
      endFetches(of: &download)
      guard files.isLinked else {
        // Its readers have it all; nobody else can: what was ordered comes again, where others find it.
        if download.isWanted && files.pending == 0 {
          answerReaders(of: &download)
          forgetBytes(of: &download)
        }
        return
      }
      download.content = .whole
      download.record.error = nil
      download.record.total = files.representation.total
      download.retry.permitted()
      flush(&download, after: 0)
      reconsider()
    }
    if download.files?.isFlushed == true {
      download.demand = .none
      download.retry.succeeded()
    }
  }
}
