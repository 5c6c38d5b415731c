internal import EpisodeCache
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

// Room: `cache_size` and `min_free` (PRODUCT.md, Options).
extension Engine {
  /// What `error` says of a download that waits for room in the budget, and of one that the disk has none for.
  static let cacheIsFull = "cache is full"
  static let noSpaceLeft = "no space left on the disk"

  private var used: Int64 { downloads.bytes }

  /// Bytes that may still be written before `min_free` is touched.
  private var available: Int64 {
    (DiskSpace.available(at: layout.cache) ?? .max) - settings.minimumFree
  }

  /// Makes room for the wanted downloads that are to run, in their order.
  /// - Returns: those that there is room for.
  func withRoom(_ wanted: [Download]) -> Set<MediaKey> {
    var admitted: Set<MediaKey> = []
    guard !wanted.isEmpty else { return admitted }
    var promised: Int64 = 0
    for download in wanted {
      let need = download.expected(atMost: settings.cacheSize)
      let excess = max(used + promised + need - settings.cacheSize, promised + need - available)
      if excess <= 0 || evict(excess) {
        admitted.insert(download.key)
        promised += need
      }
    }
    return admitted
  }

  /// Lets go of the least recently read episodes until `count` bytes are free; of none where that is not
  /// enough.
  /// - Parameter partly: whether less than that is of use too.
  private func evict(_ count: Int64, partly: Bool = false) -> Bool {
    var candidates: [(download: Download, read: Int64)] = []
    for download in downloads.all.values where download.isEvictable {
      if let read = layout.lastRead(download.key, download.record.generation) {
        candidates.append((download, read))
      }
    }
    guard partly || candidates.reduce(0, { $0 + $1.download.received }) >= count else { return false }
    candidates.sort { $0.read < $1.read }
    var left = count
    for (download, _) in candidates where left > 0 {
      let size = download.received
      guard layout.evict(download.key, download.record.generation) else { continue }
      forgetBytes(of: download)
      touch(download)
      left -= size
    }
    return left <= 0
  }

  /// Whether a reader's download may begin or go on: beyond `cache_size`, but not into `min_free`.
  func hasRoom(for download: Download) -> Bool {
    if download.isBackground || !download.flows.isEmpty { return true }
    trim(for: download.missing)
    let lack = download.missing - available
    let least = settings.minimumFree > 0 ? 2 * Self.firstGrant : 0
    if lack <= 0 || evict(lack) || available > least { return true }
    suffer(Fault(.noRoom, Self.noSpaceLeft), download)
    return false
  }

  /// Lets go of what is beyond `cache_size` when `count` more bytes come, as far as anything may go.
  func trim(for count: Int64 = 0) {
    let excess = used + count - settings.cacheSize
    if excess > 0 { _ = evict(excess, partly: true) }
  }

  /// Keeps to the bounds while bytes come: with every so many written, and once a second.
  func watchRoom() {
    let active = downloads.busy.values.filter { !$0.flows.isEmpty }
    if active.isEmpty { return }
    let excess = used - settings.cacheSize
    // Where nothing may go the background waits (`assignSlots`).
    if excess > 0 && !evict(excess) { for download in active where download.isBackground { touch(download) } }
    if settings.minimumFree > 0 { grantRoom(to: active) }
  }

  /// What a response may write before its first grant, and so little that it is none.
  static let firstGrant: Int64 = 1 << 20
  private static let smallestGrant: Int64 = 128 << 10

  /// Divides what the disk has above `min_free` among the responses, so that all of them together can't go
  /// below it however fast they are; where there is plenty they are not held to anything.
  private func grantRoom(to active: [Download]) {
    let flows = active.flatMap(\.flows)
    let missing = active.reduce(0) { $0 + $1.missing }
    var room = available - Self.firstGrant
    if missing > room, evict(missing - room) { room = available - Self.firstGrant }
    let share = room / Int64(flows.count)
    if share < Self.smallestGrant {
      for download in active {
        if download.isBackground {
          touch(download)
        } else {
          suffer(Fault(.noRoom, Self.noSpaceLeft), download)
        }
      }
      return
    }
    let grant = share > 64 << 20 ? nil : share
    for (flow, task) in flows where flow.grant(grant) { task.resume() }
  }

  /// Looks again, every few seconds while something waits for room.
  func watchForRoom() {
    guard !isWatchingForRoom, downloads.busy.values.contains(where: \.waitsForRoom) else { return }
    isWatchingForRoom = true
    loop.schedule(at: .after(3)) {
      self.isWatchingForRoom = false
      for download in self.downloads.busy.values where download.waitsForRoom { self.healRoom(of: download) }
      self.watchForRoom()
    }
  }

  /// Goes on with a download that the disk had no room for, when there is some.
  private func healRoom(of download: Download) {
    touch(download)
    guard download.record.waitsForRoom else { return }
    // Something may have been let go of, or have lost its mark to be kept.
    let lack = min(download.missing, 16 << 20) - available
    if lack >= 0 && !evict(lack + 1) { return }
    download.record.state = .queued
    download.record.error = nil
    download.retryAt = nil
  }
}

extension Download {
  /// Bytes in the cache.
  var received: Int64 { writer?.received ?? record.received }

  /// Bytes to come, as far as the server has told.
  var missing: Int64 { max((record.total ?? 0) - received, 0) }

  /// Bytes to come, by the feed's word where the server has not told. Feeds say anything: nothing is let go of,
  /// and nothing waits, for what they say beyond `limit` or any episode.
  func expected(atMost limit: Int64) -> Int64 {
    guard record.total == nil, let length = record.request.expectedLength,
      length <= min(LiveMap.capacity, limit)
    else { return missing }
    return max(length - received, 0)
  }

  /// Whether only the queue wants it.
  var isBackground: Bool { isWanted && !isOpenForDownload }

  /// Whether it waits for room, in the budget or on the disk.
  var waitsForRoom: Bool {
    record.waitsForRoom || record.state == .queued && record.error == Engine.cacheIsFull
  }

  /// Never one that is open, kept, or not yet complete and wanted, nor what the user paused.
  var isEvictable: Bool {
    (record.state == .cached || record.state == .remote) && received > 0 && !record.isKept && handles.isEmpty
      && flows.isEmpty && record.generation > 0
  }
}
