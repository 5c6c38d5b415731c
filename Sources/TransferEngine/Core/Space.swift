internal import PodcastModel
internal import TransferProtocol

/// What is known of the room on the disk, and what is being done for more.
struct Space: Hashable {
  var free = FreeSpace()
  /// Downloads that wait for the disk to be looked at.
  var waiting: Set<MediaKey> = []
  /// What is being let go of, and how many bytes of it are wanted.
  private(set) var evicting: Set<MediaKey> = []
  private var goal: Int64 = 0
  /// Until when each is not tried that another process had open.
  private var heldElsewhere: [MediaKey: Instant] = [:]

  /// Seconds.
  private static let heldFor = 60.0

  /// What may go of `candidates`: `sure` without what another process had open when it was to go. That must have gone
  /// before anything begins in its place, or each try would write a little more.
  func split(_ candidates: [GenerationName], at now: Instant) -> (sure: Int64, due: [GenerationName]) {
    let sure = candidates.filter { heldElsewhere[$0.key] == nil && !evicting.contains($0.key) }
    let due = candidates.filter { heldElsewhere[$0.key].map { $0 <= now } ?? true }
    return (sure.reduce(0) { $0 + $1.size }, due)
  }

  mutating func evict(_ candidates: [GenerationName], goal: Int64) {
    evicting = Set(candidates.map(\.key))
    self.goal = goal
  }

  /// - Parameter freed: bytes that have gone.
  /// - Returns: all that were to go.
  mutating func evicted(_ gone: [MediaKey], freed: Int64, at now: Instant) -> Set<MediaKey> {
    let asked = evicting
    for key in gone { heldElsewhere[key] = nil }
    if freed < goal {
      for key in asked.subtracting(gone) { heldElsewhere[key] = now.adding(Self.heldFor) }
    } else {
      heldElsewhere = heldElsewhere.filter { $0.value > now }
    }
    evicting = []
    return asked
  }
}

// Room: `cache_size` and `min_free`. It is made as bytes come, not for what a header claims.
extension TransferCore {
  /// What `error` says of a download that waits for room in the budget, and of one that the disk has none for.
  static let cacheIsFull = "cache is full"
  package static let noSpaceLeft = "no space left on the disk"

  /// Room that must be there for a body of unknown length to begin, and is kept free ahead of what comes.
  private static let ahead: Int64 = 2 << 20
  /// Room for which a reader's download is worth beginning.
  private static let least: Int64 = 256 << 10
  /// Bytes that a body without a length may have, however small or large the cache.
  private static let endless = (least: Int64(64 << 20), most: Int64(4 << 30))
  /// What journals, marks and the store take beside what is counted, between two looks at the disk.
  private static let spare: Int64 = 256 << 10
  /// Seconds in which what was to go has gone.
  private static let timeToEvict = 0.2
  /// Room with which a download of which more is to come begins again.
  private static let worthwhile: Int64 = 16 << 20
  /// A full cache lets go of this part of it more than it must: each eviction looks at all that is cached.
  private static let lowWater: Int64 = 50

  /// Bytes that may still be written before `min_free` is touched, as far as is known.
  private var left: Int64 { space.free.left ?? .max }

  /// Whether there is so much that a minute changes little.
  private var hasPlenty: Bool { left > 1 << 30 && space.free.isKnown(at: now.instant, for: 60) }

  /// Whether the disk is being looked at, and not long after the last time.
  private var isRoomBeingSeen: Bool { space.free.isLooking && space.free.isKnown(at: now.instant, for: 2) }

  mutating func measureRoom() { if space.free.look() { emit(.measureRoom) } }

  /// Something has been let go of, or other bounds hold.
  mutating func roomHasChanged() {
    space.free.outdate()
    measureRoom()
  }

  mutating func measured(_ available: Int64?) {
    let usable = (available ?? .max / 2) - (settings.minimumFree > 0 ? settings.minimumFree + Self.spare : 0)
    // The measurement is stale: another one is taken.
    guard space.free.looked(usable, at: now.instant) else { return measureRoom() }
    let waiting = space.waiting.sorted()
    space.waiting = []
    for key in waiting { touch(key) }
    resumeStarved()
  }

  /// Which of the wanted downloads that are to run there is room for, in their order.
  mutating func withRoom(_ wanted: [MediaKey]) -> Set<MediaKey> {
    var admitted: Set<MediaKey> = []
    var promised: Int64 = 0
    var promisedOnDisk: Int64 = 0
    var evictable: (sure: Int64, due: [GenerationName])?
    for download in wanted.compactMap({ downloads.active[$0] }) {
      let isKnown = download.record.total != nil
      let need =
        isKnown
        ? download.missing
        : max(download.expected(atMost: settings.cacheSize), settings.minimumFree > 0 ? 1 : 0)
      let onDisk = isKnown ? download.unclaimed : max(need, Self.ahead)
      // What runs has taken its part already; it is stopped where it gets no more.
      let isTaking = !download.fetches.isEmpty
      let disk = settings.minimumFree > 0 && !isTaking ? promisedOnDisk + onDisk - left : 0
      let excess = max(downloads.bytes + promised + need - settings.cacheSize, disk)
      if excess > 0 {
        let bytes = evictable ?? space.split(self.evictable, at: now.instant)
        evictable = bytes
        if bytes.sure < excess {
          evict(excess)
          continue
        }
      }
      admitted.insert(download.key)
      promised += need
      promisedOnDisk += onDisk
    }
    return admitted
  }

  private var evictable: [GenerationName] {
    let queued = Set(settings.queued ?? [])
    return downloads.evictable.filter { !queued.contains($0.key) }
  }

  /// Evicts the least recently read episodes that together hold at least `count` bytes. Where all together hold less, it
  /// evicts none.
  /// - Parameter partly: evicts them also where they hold less.
  /// - Returns: whether an eviction runs.
  @discardableResult
  private mutating func evict(_ count: Int64, partly: Bool = false) -> Bool {
    if !space.evicting.isEmpty { return true }
    let candidates = space.split(evictable, at: now.instant).due
    guard !candidates.isEmpty, partly || candidates.reduce(0, { $0 + $1.size }) >= count else { return false }
    space.evict(candidates, goal: count)
    emit(.evict(candidates, count: count + min(settings.cacheSize, downloads.bytes) / Self.lowWater))
    return true
  }

  mutating func evicted(_ names: [GenerationName]) {
    var freed: Int64 = 0
    for name in names {
      // Another generation may have begun meanwhile: that one stays.
      guard downloads.record(of: name.key)?.generation == name.generation else { continue }
      change(name.key) { core, download in
        freed += download.received
        core.forgetBytes(of: &download, removesNames: false)
      }
    }
    for key in space.evicted(names.map(\.key), freed: freed, at: now.instant).sorted()
    where downloads.active[key] != nil { touch(key) }
    roomHasChanged()
    reconsider()
  }

  private enum Room { case there, later, none }

  /// Whether the disk has room for `need` bytes. `later`: the download is looked at again when that may have changed.
  private mutating func room(for need: Int64, of key: MediaKey) -> Room {
    let isFresh = space.free.isFresh(at: now.instant)
    if settings.minimumFree <= 0 || hasPlenty || left >= need && (isFresh || isRoomBeingSeen) {
      return .there
    }
    if !isFresh || space.free.isLooking { measureRoom() } else if !evict(need - left) { return .none }
    space.waiting.insert(key)
    return .later
  }

  /// Whether a reader's download may begin or go on: beyond `cache_size`, but not into `min_free`.
  mutating func hasRoom(for download: inout Download) -> Bool {
    if download.isBackground || !download.fetches.isEmpty { return true }
    let need = download.record.total == nil ? Self.least : min(download.unclaimed, Self.least)
    let room = need == 0 ? .there : room(for: need, of: download.key)
    if room == .none { handle(Fault(.noRoom, Self.noSpaceLeft), of: &download) }
    return room == .there
  }

  /// The disk had no room where there was to be some: `min_free` is 0, or a quota ends before the disk does.
  /// - Returns: whether something is let go of for what is still to come; the download goes on when it is gone.
  mutating func makesRoom(for download: inout Download) -> Bool {
    guard download.isWanted || !download.fetchableWaits.isEmpty || download.readsThrough else { return false }
    let need = download.record.total == nil ? Self.ahead : min(download.unclaimed, Self.worthwhile)
    guard evict(max(need, Self.least), partly: true) else { return false }
    retry(&download, at: now.instant.adding(Self.timeToEvict))
    return true
  }

  /// What a piece may have of the disk, as far as is known.
  var roomForAPiece: Int64 { settings.minimumFree > 0 ? left : .max }

  /// Takes room for a piece that is to be written.
  /// - Returns: whether there is any; else the download is looked at again when that may have changed.
  mutating func takeRoom(for range: Range<Int64>, of download: inout Download) -> Bool {
    switch room(for: FreeSpace.cost(of: range), of: download.key) {
    case .there:
      space.free.take(range)
      return true
    case .later: return false
    case .none:
      // What is on its way is shown before anybody hears that there is no more.
      if download.openFiles?.pending ?? 0 > 0 { return false }
      // A reader hears of it; without one it waits in the queue.
      let isAwaited = !download.isBackground || !download.fetchableWaits.isEmpty || download.readsThrough
      endFetches(of: &download, losing: true)
      touch(&download)
      if isAwaited { handle(Fault(.noRoom, Self.noSpaceLeft), of: &download) }
      return false
    }
  }

  /// Keeps to the bounds while bytes come: with every so many written, and once a second.
  mutating func watchRoom() {
    let active = downloads.runningInOrder
    var ahead: Int64 = 0
    for download in active.compactMap({ downloads.active[$0] }) {
      let expected = download.record.total == nil ? Self.ahead / 2 : download.missing
      ahead += min(expected, 4 * Self.ahead)
    }
    let excess = downloads.bytes + ahead - settings.cacheSize
    // Where nothing may go the background waits (`assignSlots`).
    if excess > 0 && !evict(excess, partly: true) && downloads.bytes > settings.cacheSize { reconsider() }
    if settings.minimumFree > 0 && !active.isEmpty { measureRoom() }
  }

  /// A body without a length must not take the whole cache.
  mutating func boundEndless(_ download: inout Download) {
    let (least, most) = Self.endless
    guard download.hasNoLength, download.received > max(min(settings.cacheSize / 2, most), least) else {
      return
    }
    handle(Fault(.lasting, "\(download.source.named) does not stop sending"), of: &download)
  }

  /// Goes on with what the disk had no room for, as far as there is some now: it is given to one after the other, and
  /// those that run have theirs before them.
  private mutating func resumeStarved() {
    if downloads.starving.isEmpty { return }
    var left = downloads.runningInOrder.compactMap { downloads.active[$0] }
      .reduce(self.left) { $0 - min($1.unclaimed, Self.worthwhile) }
    var hasEvicted = false
    for download in downloads.starvingInOrder.compactMap({ downloads.active[$0] }) {
      guard download.demand == .starved, download.retry.until.map({ $0 <= now.instant }) ?? true else {
        continue
      }
      let need = download.record.total == nil ? Self.ahead : min(download.unclaimed, Self.worthwhile)
      if need > left {
        // Something may have been let go of, or have lost its mark to be kept.
        if !hasEvicted { hasEvicted = evict(need - left) }
        continue
      }
      left -= need
      change(download.key) { _, download in
        download.demand = .wanted(by: nil)
        download.record.problem = nil
        download.retry.until = nil
      }
    }
  }
}
