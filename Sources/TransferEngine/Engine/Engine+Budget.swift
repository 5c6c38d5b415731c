internal import PodcastModel
internal import TransferProtocol

/// What is known of the room on the disk, and what is being done for more.
struct Room {
  var space = FreeSpace()
  /// Downloads that wait for the disk to be looked at.
  var waiting: Set<MediaKey> = []
  /// What is being let go of, how many bytes of it are wanted, and orders that wait for that.
  var evicting: Set<MediaKey> = []
  var goal: Int64 = 0
  var deferred: [(client: ClientID, message: ClientMessage)] = []
  /// Whether more downloads are ready than there are slots.
  var hasQueue = false
}

// Room: `cache_size` and `min_free`. It is made as bytes come, not for what a header claims.
extension Engine {
  /// What `error` says of a download that waits for room in the budget, and of one that the disk has none for.
  static let cacheIsFull = "cache is full"
  package static let noSpaceLeft = "no space left on the disk"

  /// Room that must be there for a body of unknown length to begin, and is kept free ahead of what comes.
  private static let ahead: Int64 = 2 << 20
  /// Room for which a reader's download is worth beginning.
  private static let least: Int64 = 256 << 10
  /// Bytes of a body without a length, however large the cache and long the feed says that it is.
  private static let longestEndless: Int64 = 4 << 30

  /// What journals, marks and the store take beside what is counted, between two looks at the disk.
  private static let spare: Int64 = 256 << 10
  /// Seconds in which what was to go has gone.
  private static let timeToEvict = 0.2
  /// Room with which a download of which more is to come begins again.
  private static let worthwhile: Int64 = 16 << 20

  /// Bytes that may still be written before `min_free` is touched, as far as is known.
  private var left: Int64 { room.space.left ?? .max }

  /// Whether there is so much that a minute changes little.
  private var hasPlenty: Bool { left > 1 << 30 && room.space.isKnown(at: now.instant, for: 60) }

  /// Whether the disk is being looked at, and not long after the last time.
  private var isRoomBeingSeen: Bool { room.space.isLooking && room.space.isKnown(at: now.instant, for: 2) }

  private func measureRoom() { if room.space.look() { emit(.measureRoom) } }

  /// Something has been let go of, or other bounds hold.
  func roomHasChanged() {
    room.space.outdate()
    measureRoom()
  }

  func measured(_ available: Int64?) {
    let free = settings.minimumFree
    let usable = (available ?? .max / 2) - (free > 0 ? free + Self.spare : 0)
    // Who waits for it waits for the next one.
    guard room.space.looked(usable, at: now.instant) else { return measureRoom() }
    let waiting = room.waiting.sorted()
    room.waiting = []
    for key in waiting { if let download = downloads[key] { touch(download) } }
    healRoom()
  }

  private var evictable: [Download] {
    downloads.all.values.filter { download in
      download.isEvictable && !room.evicting.contains(download.key)
        && download.heldElsewhereUntil.map { $0 <= now.instant } ?? true
    }
  }

  /// Bytes that may go; `sure` without what somebody else had open when it was to go: that must have gone before
  /// anything begins in its place, or each try would write a little more.
  private var sizeOfEvictable: (sure: Int64, all: Int64) {
    evictable.reduce((0, 0)) { sum, download in
      let isSure = download.heldElsewhereUntil == nil
      return (sum.0 + (isSure ? download.received : 0), sum.1 + download.received)
    }
  }

  /// Which of the wanted downloads that are to run there is room for, in their order.
  func withRoom(_ wanted: [Download]) -> Set<MediaKey> {
    var admitted: Set<MediaKey> = []
    guard !wanted.isEmpty else { return admitted }
    let used = downloads.bytes
    var promised: Int64 = 0
    var promisedOnDisk: Int64 = 0
    var evictableBytes: (sure: Int64, all: Int64)?
    for download in wanted {
      let expected = download.expected(atMost: settings.cacheSize)
      let isKnown = download.record.total != nil
      let need = isKnown ? download.missing : max(expected, settings.minimumFree > 0 ? 1 : 0)
      let onDisk = isKnown ? download.unclaimed : max(need, Self.ahead)
      // What runs has taken its part already; it is stopped where it gets no more.
      let isTaking = !download.flows.isEmpty && !download.isStarved
      let disk = settings.minimumFree > 0 && !isTaking ? promisedOnDisk + onDisk - left : 0
      let excess = max(used + promised + need - settings.cacheSize, disk)
      if excess > 0 {
        let bytes = evictableBytes ?? sizeOfEvictable
        evictableBytes = bytes
        if bytes.sure < excess {
          if bytes.all >= excess { evict(excess) }
          lookAtStored(download)
          continue
        }
      }
      admitted.insert(download.key)
      promised += need
      promisedOnDisk += onDisk
    }
    return admitted
  }

  /// Who finds no room may need less than it seems: a killed daemon's records say less than is here.
  private func lookAtStored(_ download: Download) {
    guard download.store == nil, download.record.generation > 0, !download.hasBeenOpened else { return }
    download.hasBeenOpened = true
    download.mustLook = true
    touch(download)
  }

  /// Lets go of the least recently read episodes until `count` bytes are free; of none where that is not enough.
  /// - Parameter partly: whether less than that is of use too.
  /// - Returns: whether that is being done.
  @discardableResult
  private func evict(_ count: Int64, partly: Bool = false) -> Bool {
    if !room.evicting.isEmpty { return true }
    let candidates = evictable
    guard !candidates.isEmpty, partly || candidates.reduce(0, { $0 + $1.received }) >= count else {
      return false
    }
    room.evicting = Set(candidates.map(\.key))
    room.goal = count
    emit(
      .evict(
        candidates.map {
          EvictionCandidate(key: $0.key, generation: $0.record.generation, size: $0.received)
        }.sorted { $0.key < $1.key }, count: count))
    return true
  }

  func evicted(_ names: [GenerationName]) {
    let asked = room.evicting
    room.evicting = []
    var freed: Int64 = 0
    for name in names {
      // Another generation may have begun meanwhile: that one stays.
      guard let download = downloads[name.key], download.record.generation == name.generation else {
        continue
      }
      freed += download.received
      // Ordered since it was chosen.
      let isWantedAgain = download.isWantedAgain
      download.isWantedAgain = false
      download.heldElsewhereUntil = nil
      forgetBytes(of: download)
      if isWantedAgain { want(download, isExplicit: false) }
      touch(download)
    }
    for key in asked.subtracting(names.map(\.key)) {
      guard let download = downloads[key] else { continue }
      if download.openStore != nil && !isInDoubt(download) { download.isWantedAgain = false }
      // Somebody has it open: asked for again later and later.
      if freed < room.goal { download.isHeldElsewhere(at: now.instant) }
    }
    roomHasChanged()
    reconsider()
    let deferred = room.deferred
    room.deferred = []
    for (client, message) in deferred { perform(message, of: client) }
  }

  /// Whether a reader's download may begin or go on: beyond `cache_size`, but not into `min_free`.
  func hasRoom(for download: Download) -> Bool {
    if download.isBackground || !download.flows.isEmpty || settings.minimumFree <= 0 { return true }
    let need = download.record.total == nil ? Self.least : min(download.unclaimed, Self.least)
    if need == 0 || hasPlenty { return true }
    if !room.space.isFresh(at: now.instant) {
      room.waiting.insert(download.key)
      measureRoom()
      return false
    }
    if left >= need { return true }
    if evict(need - left) {
      room.waiting.insert(download.key)
      return false
    }
    suffer(Fault(.noRoom, Self.noSpaceLeft), download)
    return false
  }

  /// The disk had no room where there was to be some: `min_free` is 0, or a quota ends before the disk does.
  /// - Returns: whether something is let go of for what is still to come; the download goes on when it is gone.
  func makesRoom(for download: Download) -> Bool {
    guard download.isWanted || !download.fetchableWaits.isEmpty || download.readsThrough else { return false }
    let need = download.record.total == nil ? Self.ahead : min(download.unclaimed, Self.worthwhile)
    guard evict(max(need, Self.least), partly: true) else { return false }
    download.retryAt = now.instant.adding(Self.timeToEvict)
    return true
  }

  /// What a piece may have of the disk, as far as is known.
  var roomForAPiece: Int64 { settings.minimumFree > 0 ? left : .max }

  /// Takes room for a piece that is to be written.
  /// - Returns: whether there is any; else the download is looked at again when that may have changed.
  func takeRoom(for range: Range<Int64>, of download: Download) -> Bool {
    let cost = FreeSpace.cost(of: range)
    let isFresh = room.space.isFresh(at: now.instant)
    if settings.minimumFree <= 0 || hasPlenty || left >= cost && (isFresh || isRoomBeingSeen) {
      room.space.take(range)
      download.isStarved = false
      return true
    }
    room.waiting.insert(download.key)
    if !isFresh || room.space.isLooking {
      measureRoom()
    } else if !evict(cost - left) {
      room.waiting.remove(download.key)
      // What is on its way is shown before anybody hears that there is no more.
      if download.openStore?.pending ?? 0 > 0 { return false }
      // Who waits hears of it; without anybody it waits in the queue.
      if !download.isBackground || !download.fetchableWaits.isEmpty || download.readsThrough {
        starved(download)
      } else if !download.isStarved {
        download.isStarved = true
        touch(download)
      }
    }
    return false
  }

  /// There is no room for what a reader's response has brought.
  private func starved(_ download: Download) {
    for flow in download.flows { flow.intake = nil }
    suffer(Fault(.noRoom, Self.noSpaceLeft), download)
  }

  /// Keeps to the bounds while bytes come: with every so many written, and once a second.
  func watchRoom() {
    let active = downloads.runningInOrder
    var ahead: Int64 = 0
    for download in active {
      let expected = download.record.total == nil ? Self.ahead / 2 : download.missing
      ahead += min(expected, 4 * Self.ahead)
      boundEndless(download)
    }
    let used = downloads.bytes
    let excess = used + ahead - settings.cacheSize
    // Where nothing may go the background waits (`assignSlots`).
    if excess > 0 && !evict(excess, partly: true) && used > settings.cacheSize {
      for download in active where download.isBackground { touch(download) }
    }
    if settings.minimumFree > 0 && !active.isEmpty { measureRoom() }
  }

  /// A body without a length must not take the whole cache.
  private func boundEndless(_ download: Download) {
    guard download.hasNoLength, download.record.total == nil else { return }
    // Feeds say anything: heard where the budget would have it.
    let expected = download.record.request.expectedLength ?? 0
    let largest = Limits.largestFile
    let told = expected <= min(settings.cacheSize, largest) ? min(2 * expected, largest) : 0
    let bound = max(min(settings.cacheSize / 2, Self.longestEndless), 64 << 20, told)
    guard download.received > bound else { return }
    suffer(Fault(.lasting, "\(download.host) sends without end"), download)
  }

  /// Looks again, every few seconds while something waits for room.
  func watchForRoom() {
    if downloads.isAnyStarving {
      timers.add(.room, at: now.instant.adding(3))
    }
  }

  func lookForRoom() {
    measureRoom()
    reconsider()
  }

  /// Goes on with what the disk had no room for, as far as there is some now: it is given to one after the other, and
  /// those that run have theirs before them.
  private func healRoom() {
    let waiting = downloads.starvingInOrder
    if waiting.isEmpty { return }
    var left = downloads.runningInOrder.reduce(self.left) { $0 - min($1.unclaimed, Self.worthwhile) }
    var hasEvicted = false
    for download in waiting {
      touch(download)
      if let later = download.healAt, later > now.instant { continue }
      if download.waitsToFlush, left > 0 { download.waitsToFlush = false }
      guard download.record.waitsForRoom else { continue }
      let need = download.record.total == nil ? Self.ahead : min(download.unclaimed, Self.worthwhile)
      if need > left {
        // Something may have been let go of, or have lost its mark to be kept. Who waits in vain lets go of nothing.
        if !hasEvicted { hasEvicted = evict(need - left) }
        lookAtStored(download)
        continue
      }
      left -= need
      download.record.state = .queued
      download.record.error = nil
      download.retryAt = nil
    }
  }
}
