internal import PodcastModel
internal import TransferProtocol

/// What is known of the room on the disk, and what is being done for more.
struct Room {
  /// Bytes that the disk had when it was last looked at, above `min_free`; nil before.
  var available: Int64?
  var measured = Instant(nanoseconds: .min / 2)
  var isMeasuring = false
  /// Bytes given to the disk since then.
  var written: Int64 = 0
  /// Downloads that wait for it to be looked at.
  var waiting: Set<MediaKey> = []
  /// What is being let go of, and orders that wait for that.
  var evicting: Set<MediaKey> = []
  var deferred: [(client: ClientID, message: ClientMessage)] = []
  /// Whether more downloads are ready than there are slots.
  var hasQueue = false
}

// Room: `cache_size` and `min_free`. It is made as bytes come, not for what a header claims.
extension Engine {
  /// What `error` says of a download that waits for room in the budget, and of one that the disk has none for.
  static let cacheIsFull = "cache is full"
  static let noSpaceLeft = "no space left on the disk"

  /// Room that must be there for a body of unknown length to begin, and is kept free ahead of what comes.
  private static let ahead: Int64 = 2 << 20
  /// Room for which a reader's download is worth beginning.
  private static let least: Int64 = 256 << 10
  /// Bytes of a body without a length, however large the cache and long the feed says that it is.
  private static let longestEndless: Int64 = 4 << 30

  /// Bytes that may still be written before `min_free` is touched, as far as is known.
  private var left: Int64 { room.available.map { $0 - room.written } ?? .max }

  private var isRoomKnown: Bool {
    room.available != nil && now.instant < room.measured.adding(0.5)
  }

  private func measureRoom() {
    if room.isMeasuring { return }
    room.isMeasuring = true
    room.written = 0
    emit(.measureRoom)
  }

  func measured(_ available: Int64?) {
    room.isMeasuring = false
    // What was given to the disk since it was asked may not be counted yet.
    room.available = (available ?? .max / 2) - settings.minimumFree
    room.measured = now.instant
    let waiting = room.waiting.sorted()
    room.waiting = []
    for key in waiting { if let download = downloads[key] { touch(download) } }
    for download in downloads.busyInOrder where download.waitsForRoom { healRoom(of: download) }
  }

  private var evictable: [Download] {
    downloads.all.values.filter { $0.isEvictable && !room.evicting.contains($0.key) }
  }

  /// Which of the wanted downloads that are to run there is room for, in their order.
  func withRoom(_ wanted: [Download]) -> Set<MediaKey> {
    var admitted: Set<MediaKey> = []
    guard !wanted.isEmpty else { return admitted }
    let used = downloads.bytes
    var promised: Int64 = 0
    var evictableBytes: Int64?
    for download in wanted {
      let expected = download.expected(atMost: settings.cacheSize)
      let isKnown = download.record.total != nil
      let need = isKnown ? download.missing : max(expected, settings.minimumFree > 0 ? 1 : 0)
      let onDisk = isKnown ? need : max(need, Self.ahead)
      let disk = settings.minimumFree > 0 ? promised + onDisk - left : 0
      let excess = max(used + promised + need - settings.cacheSize, disk)
      if excess > 0 {
        let bytes = evictableBytes ?? evictable.reduce(0) { $0 + $1.received }
        evictableBytes = bytes
        if bytes < excess { continue }
      }
      admitted.insert(download.key)
      promised += need
    }
    return admitted
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
    emit(
      .evict(
        candidates.map {
          EvictionCandidate(key: $0.key, generation: $0.record.generation, size: $0.received)
        }.sorted { $0.key < $1.key }, count: count))
    return true
  }

  func evicted(_ keys: [MediaKey]) {
    room.evicting = []
    for key in keys {
      guard let download = downloads[key] else { continue }
      forgetBytes(of: download)
      touch(download)
    }
    if room.isMeasuring { room.waiting.formUnion(keys) } else { measureRoom() }
    reconsider()
    let deferred = room.deferred
    room.deferred = []
    for (client, message) in deferred { perform(message, of: client) }
  }

  /// Whether a reader's download may begin or go on: beyond `cache_size`, but not into `min_free`.
  func hasRoom(for download: Download) -> Bool {
    if download.isBackground || !download.flows.isEmpty || settings.minimumFree <= 0 { return true }
    let need = download.record.total == nil ? Self.least : min(download.missing, Self.least)
    let isPlenty = room.available != nil && left > 1 << 30 && now.instant < room.measured.adding(60)
    if isPlenty || need == 0 { return true }
    if !isRoomKnown {
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

  /// Takes room for a piece that is to be written.
  /// - Returns: whether there is any; else the download is looked at again when that may have changed.
  func takeRoom(_ count: Int64, for download: Download) -> Bool {
    if settings.minimumFree <= 0 {
      room.written += count
      return true
    }
    let mayGo = left >= count && (room.available != nil || !room.isMeasuring)
    if mayGo && (isRoomKnown || left >= 256 * count || room.isMeasuring) {
      room.written += count
      return true
    }
    room.waiting.insert(download.key)
    if !isRoomKnown {
      measureRoom()
    } else if !evict(count - left) {
      room.waiting.remove(download.key)
      if download.isBackground { touch(download) } else { starved(download) }
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
    let active = downloads.busy.values.filter { !$0.flows.isEmpty }
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
    let told = min(
      2 * min(download.record.request.expectedLength ?? 0, Limits.largestFile), Limits.largestFile)
    let bound = max(min(settings.cacheSize / 2, Self.longestEndless), 64 << 20, told)
    guard download.received > bound else { return }
    suffer(Fault(.lasting, "\(download.host) sends without end"), download)
  }

  /// Looks again, every few seconds while something waits for room.
  func watchForRoom() {
    if downloads.busy.values.contains(where: \.waitsForRoom) {
      timers.add(.room, at: now.instant.adding(3))
    }
  }

  func lookForRoom() {
    measureRoom()
    reconsider()
  }

  /// Goes on with a download that the disk had no room for, when there is some.
  private func healRoom(of download: Download) {
    touch(download)
    guard download.record.waitsForRoom else { return }
    // Something may have been let go of, or have lost its mark to be kept.
    let need = download.record.total == nil ? Self.ahead : min(download.missing, 16 << 20)
    let lack = need - left
    if lack >= 0 {
      // Who waits in vain lets go of nothing.
      evict(lack + 1)
      return
    }
    download.record.state = .queued
    download.record.error = nil
    download.retryAt = nil
  }
}
