internal import PodcastModel
internal import TransferProtocol

struct Space: Hashable {
  var free = FreeSpace()
  /// Downloads that wait for the disk to be looked at.
  var waiting: Set<MediaKey> = []
  /// What is being let go of, and how many bytes of it are wanted.
  private(set) var evicting: Set<MediaKey> = []
  private var goal: Int64 = 0
  /// Whether another process had open what was to go; and until when nothing is evicted because of that.
  private(set) var isRefused = false
  private var restsUntil = Instant(nanoseconds: 0)
  private static let rest = 10.0

  func isResting(at now: Instant) -> Bool { now < restsUntil }

  mutating func evict(_ candidates: [GenerationName], goal: Int64) {
    evicting = Set(candidates.map(\.key))
    self.goal = min(goal, candidates.reduce(0) { $0 + $1.size })
  }

  mutating func evicted(freed: Int64, at now: Instant) -> Set<MediaKey> {
    defer { evicting = [] }
    isRefused = freed < goal
    if isRefused { restsUntil = now.adding(Self.rest) }
    return evicting
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
  /// A full cache lets go of this part of it more than it must: each eviction looks at all that is cached.
  private static let lowWater: Int64 = 50

  /// Bytes that may still be written before `min_free` is touched, as far as is known.
  var left: Int64 { space.free.left ?? .max }

  /// Whether there is so much that a minute changes little.
  var hasPlenty: Bool { left > 1 << 30 && space.free.isKnown(at: now.instant, for: 60) }

  mutating func measureRoom() { if space.free.look() { emit(.measureRoom) } }

  /// Something has been let go of, or other bounds hold.
  mutating func roomHasChanged() {
    space.free.outdate()
    measureRoom()
  }

  mutating func measured(_ available: Int64?) {
    let usable = (available ?? .max / 2) - settings.minimumFree - Self.spare
    // The measurement is stale: another one is taken.
    guard space.free.looked(usable, at: now.instant) else { return measureRoom() }
    let waiting = space.waiting.sorted()
    space.waiting = []
    for key in waiting { touch(key) }
    if !downloads.starving.isEmpty { reconsider() }
  }

  /// Which of the wanted downloads that are to run there is room for, in their order.
  mutating func withRoom(_ wanted: [MediaKey]) -> Set<MediaKey> {
    var admitted: Set<MediaKey> = []
    var promised: Int64 = 0
    var promisedOnDisk: Int64 = 0
    var certain: Int64?
    for download in wanted.compactMap({ downloads.active[$0] }) {
      let isKnown = download.record.total != nil
      let need = isKnown ? download.missing : max(download.expected(atMost: settings.cacheSize), 1)
      let onDisk = isKnown ? download.unclaimed : max(need, Self.ahead)
      // What runs has taken its part already; it is stopped where it gets no more.
      let isTaking = !download.fetches.isEmpty
      let disk = isTaking ? 0 : promisedOnDisk + onDisk - left
      let isCounted = download.record.request.isEpisode
      let budget = isCounted ? downloads.bytes + promised + need - settings.cacheSize : 0
      let excess = max(budget, disk)
      // What runs goes on while an eviction makes room.
      if excess > 0 && !(isTaking && !space.evicting.isEmpty) {
        // What others have open must have gone before anything begins in its place, or each try would write a little more.
        let goes =
          certain
          ?? evictable.reduce(0) {
            $0 + (space.isRefused || space.evicting.contains($1.key) ? 0 : $1.size)
          }
        certain = goes
        if goes < excess {
          // Somebody may have made room since the last look at the disk: nothing goes before the next one.
          if disk > budget && !space.free.isFresh(at: now.instant) { measureRoom() } else { evict(excess) }
          continue
        }
      }
      admitted.insert(download.key)
      if isCounted { promised += need }
      promisedOnDisk += onDisk
    }
    return admitted
  }

  private var evictable: [GenerationName] {
    if space.isResting(at: now.instant) { return [] }
    // The store may have committed an order that is not confirmed yet: to keep it, for one.
    let wanted = Set(settings.queued ?? []).union(log.ordered)
    return downloads.evictable.filter { !wanted.contains($0.key) }
  }

  /// Evicts the least recently read episodes that together hold at least `count` bytes. Where all together hold less, it
  /// evicts none.
  /// - Parameter partly: evicts them also where they hold less.
  /// - Returns: whether an eviction runs.
  @discardableResult
  private mutating func evict(_ count: Int64, partly: Bool = false) -> Bool {
    if !space.evicting.isEmpty { return true }
    let candidates = evictable
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
    for key in space.evicted(freed: freed, at: now.instant).sorted() where downloads.active[key] != nil {
      touch(key)
    }
    roomHasChanged()
    reconsider()
  }

  private enum Room { case there, later, none }

  /// Whether the disk has room for `need` bytes. `later`: the download is looked at again when that may have changed.
  private mutating func room(for need: Int64, of key: MediaKey) -> Room {
    let isFresh = space.free.isFresh(at: now.instant)
    if hasPlenty || left >= need && isFresh { return .there }
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
      // A reader gets the error. A download that nobody reads waits in the queue.
      let isAwaited = !download.isBackground || download.servesReaders
      download.retry.excuseHost()
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
    for download in active.compactMap({ downloads.active[$0] }) where download.record.request.isEpisode {
      let expected = download.record.total == nil ? Self.ahead / 2 : download.missing
      ahead += min(expected, 4 * Self.ahead)
    }
    let excess = downloads.bytes + ahead - settings.cacheSize
    // Where nothing may go the background waits (`assignSlots`).
    if excess > 0 && !evict(excess, partly: true) && downloads.bytes > settings.cacheSize { reconsider() }
    if !active.isEmpty { measureRoom() }
  }

  /// A body without a length must not take the whole cache.
  mutating func boundEndless(_ download: inout Download) {
    let (least, most) = Self.endless
    guard download.hasNoLength, download.received > max(min(settings.cacheSize / 2, most), least) else {
      return
    }
    handle(Fault(.lasting, "\(download.source.named) does not stop sending"), of: &download)
  }
}
