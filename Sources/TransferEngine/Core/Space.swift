internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

struct Space: Hashable {
  /// Bytes that may be written before `min_free` is touched, when the disk was last looked at; nil where nobody has looked.
  private(set) var left: Int64?
  private var seen = Instant(nanoseconds: 0)
  private var isLooking = false
  /// What is being let go of, and how many bytes of it are wanted.
  private(set) var evicting: Set<MediaKey> = []
  private var goal: Int64 = 0
  /// Whether another process had open what was to go.
  private(set) var isRefused = false
  /// Until when nothing is evicted: because of that, or until clients have told what found files are.
  private(set) var restsUntil = Instant(nanoseconds: 0)

  // Seconds in which the free room last learnt is used. Other programs write to the disk, so it is not used longer.
  private static let freshness = 0.5
  private static let rest = 10.0
  private static let hearing = 30.0

  func isFresh(at now: Instant) -> Bool { left != nil && now < seen.adding(Self.freshness) }

  mutating func look() -> Bool {
    defer { isLooking = true }
    return !isLooking
  }

  mutating func looked(_ usable: Int64, at now: Instant) { (left, seen, isLooking) = (usable, now, false) }
  mutating func foundUnknown(at now: Instant) { restsUntil = now.adding(Self.hearing) }

  mutating func evict(_ candidates: [GenerationName], goal: Int64) {
    evicting = Set(candidates.map(\.key))
    self.goal = min(goal, candidates.reduce(0) { $0 + $1.size })
  }

  mutating func evicted(freed: Int64, at now: Instant) -> Set<MediaKey> {
    defer { evicting = [] }
    left = left.map { $0 + freed }
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
  /// Room that is kept free ahead of what comes.
  private static let ahead: Int64 = 2 << 20
  /// Bytes that a body without a length may have, however small or large the cache.
  private static let endless = (least: Int64(64 << 20), most: Int64(4 << 30))
  /// A full cache lets go of this part of it more than it must, where episodes are smaller: each eviction looks at all that
  /// is cached.
  private static let lowWater: Int64 = 50

  /// Bytes that a write must leave: what journals, marks and the store take is beside what is counted.
  var leaving: Int64 { settings.minimumFree + 256 << 10 }
  mutating func measureRoom() { if space.look() { emit(.measureRoom) } }

  /// Keeps to the bounds while bytes come: with every so many written, and once a second.
  mutating func measured(_ available: Int64?) {
    space.looked((available ?? .max / 2) - leaving, at: now.instant)
    var ahead: Int64 = 0
    for download in running.compactMap({ downloads.active[$0] })
    where download.record.request.isEpisode {
      // A size that no head has told yet is no reason to let go of anything.
      ahead += download.hasNoLength ? Self.ahead / 2 : min(download.missing, 4 * Self.ahead)
    }
    let excess = downloads.bytes + ahead - settings.cacheSize
    if excess > 0 { evict(excess, partly: true) }
    if ahead > 0, let left = space.left, ahead > left { evict(ahead - left) }
    reconsider()
  }

  /// Which of the wanted downloads that are to run there is room for, in their order.
  mutating func withRoom(_ wanted: [MediaKey]) -> Set<MediaKey> {
    var admitted: Set<MediaKey> = []
    var (promised, promisedOnDisk) = (Int64(0), Int64(0))
    lazy var certain = evictable.reduce(0) {
      // What others have open must have gone before anything begins in its place, or each try would write a little more.
      $0 + (space.isRefused || space.evicting.contains($1.key) ? 0 : $1.size)
    }
    for download in wanted.compactMap({ downloads.active[$0] }) {
      let need = max(download.expected(atMost: settings.cacheSize), download.record.total == nil ? 1 : 0)
      // What runs has taken its part already; it is stopped where it gets no more.
      let isTaking = !download.fetches.isEmpty
      let disk = isTaking ? 0 : promisedOnDisk + need - (space.left ?? .max)
      let isCounted = download.record.request.isEpisode
      let budget = isCounted ? downloads.bytes + promised + need - settings.cacheSize : 0
      let excess = max(budget, disk)
      // What runs goes on while an eviction makes room.
      if excess > 0 && !(isTaking && !space.evicting.isEmpty) && certain < excess {
        // Somebody may have made room since the last look at the disk: nothing goes before the next one.
        if disk > budget && !space.isFresh(at: now.instant) { measureRoom() } else { evict(excess) }
        continue
      }
      admitted.insert(download.key)
      if isCounted { promised += need }
      promisedOnDisk += need
    }
    return admitted
  }

  private var evictable: [GenerationName] {
    if now.instant < space.restsUntil { return [] }
    // The store may have committed an order that is not confirmed yet: to keep it, for one.
    let wanted = Set(settings.queued ?? []).union(log.ordered)
    return downloads.evictable.filter { !wanted.contains($0.key) }
  }

  /// Evicts the least recently read episodes that together hold `count` bytes; none where all hold less.
  /// - Parameter partly: evicts them also where they hold less.
  /// - Returns: whether an eviction runs.
  @discardableResult
  private mutating func evict(_ count: Int64, partly: Bool = false) -> Bool {
    if !space.evicting.isEmpty { return true }
    let candidates = evictable
    guard !candidates.isEmpty, partly || candidates.reduce(0, { $0 + $1.size }) >= count else { return false }
    space.evict(candidates, goal: count)
    let more = min(settings.cacheSize, downloads.bytes) / Self.lowWater
    emit(.evict(candidates, count: count, more: more))
    return true
  }

  mutating func evicted(_ names: [GenerationName]) {
    var freed: Int64 = 0
    // Another generation may have begun meanwhile: that one stays.
    for name in names where downloads.record(of: name.key)?.generation == name.generation {
      change(name.key) { core, download in
        freed += download.received
        core.forgetBytes(of: &download, removesNames: false)
      }
    }
    let considered = space.evicted(freed: freed, at: now.instant)
    changeAll(where: { considered.contains($0.key) || freed > 0 && $0.retry.lacksRoom }) { _, download in
      if freed > 0 && download.retry.lacksRoom { download.retry.until = download.retry.forbiddenUntil }
    }
    reconsider()
    measureRoom()
  }

  /// - Returns: whether some is being made.
  mutating func makesRoom(for download: Download) -> Bool {
    measureRoom()
    let need = download.record.total == nil ? Self.ahead : min(download.missing, Self.ahead)
    return evict(max(need - (space.left ?? 0), 1))
  }

  /// A body without a length must not take the whole cache.
  mutating func boundEndless(_ download: inout Download) {
    let (least, most) = Self.endless
    if download.hasNoLength, download.received > max(min(settings.cacheSize / 2, most), least) {
      handle(Fault(.lasting, "\(download.source.named) does not stop sending"), of: &download)
    }
  }
}
