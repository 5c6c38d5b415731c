internal import PodcastModel
internal import TransferProtocol

// What runs.
extension Engine {
  /// Which of the wanted downloads may run in the background: those that run already, then by order, as
  /// `downloads`, `per_host` and the room allow.
  func assignSlots() {
    let candidates = inOrder(downloads.busy.values.filter(\.isBackground))
    var used: [String: Int64] = [:]
    var chosen: [Download] = []
    room.hasQueue = false
    for download in candidates {
      let isReady = download.retryAt.map { $0 <= now.instant } ?? true
      guard isReady, !(download.flows.isEmpty && isLeftAlone(download)) else { continue }
      let host = sender(of: download)
      if used[host, default: 0] >= settings.perHost { continue }
      if chosen.count >= settings.downloads {
        room.hasQueue = true
        break
      }
      used[host, default: 0] += 1
      chosen.append(download)
    }
    let admitted = withRoom(chosen)
    let waiting = Set(chosen.map(\.key)).subtracting(admitted)
    for download in candidates {
      let may = admitted.contains(download.key)
      let isFull = waiting.contains(download.key)
      if isFull != (download.record.error == Self.cacheIsFull) {
        download.record.error = isFull ? Self.cacheIsFull : nil
        touch(download)
      }
      if may != download.hasSlot {
        download.hasSlot = may
        touch(download)
      }
    }
  }

  /// Those that run before those that wait, each by their order. There may be thousands, at each event: what they are
  /// compared by is looked up once.
  private func inOrder(_ downloads: [Download]) -> [Download] {
    let ranks = downloads.indices.map { index in
      let download = downloads[index]
      return (waits: download.flows.isEmpty, order: download.record.order, index: index)
    }
    return ranks.sorted { a, b in
      if a.waits != b.waits { return !a.waits }
      if a.order != b.order { return a.order < b.order }
      return downloads[a.index].key < downloads[b.index].key
    }.map { downloads[$0.index] }
  }

  /// The host whose downloads are counted: the one that sends, as far as that is known.
  func sender(of download: Download) -> String {
    download.sender ?? senders.sender(behind: download.host)
  }

  private func isLeftAlone(_ download: Download) -> Bool {
    hosts.isResting(download.host, at: now.instant) || hosts.isResting(sender(of: download), at: now.instant)
  }

  /// Whether the host that now turns out to send has enough to do for the background.
  func isSurplus(_ download: Download, at host: String) -> Bool {
    guard download.isBackground else { return false }
    let others = downloads.busy.values.filter {
      $0 !== download && $0.isBackground && !$0.flows.isEmpty && $0.sender == host
    }
    return others.count >= settings.perHost
  }

  /// A slot is for who makes progress: of those that others wait for, who has brought next to nothing for a while
  /// is tried again later.
  func yieldSlots() {
    for download in downloads.busyInOrder where download.isBackground && !download.flows.isEmpty {
      var isSlow = true
      for flow in download.flows {
        let last = flow.progress ?? (flow.arrived, now.instant)
        let age = now.instant.seconds(since: last.time)
        if age < Self.progressTime {
          isSlow = false
          flow.progress = last
        } else {
          if flow.arrived - last.arrived >= leastProgress || flow.intake == nil { isSlow = false }
          flow.progress = (flow.arrived, now.instant)
        }
      }
      guard isSlow && room.hasQueue else { continue }
      endFlows(of: download)
      suffer(Fault(.passing, "\(sender(of: download)) sends almost nothing"), download)
      download.retryAt = max(download.retryAt ?? now.instant, now.instant.adding(2 * Self.progressTime))
    }
  }

  /// Seconds in which a slot must have brought `leastProgress` bytes: less than any audio plays.
  private static let progressTime = 15.0
  private var leastProgress: Int64 {
    let most = 16_384.0
    guard let limit = settings.limitRate else { return Int64(most) }
    // What is held back by us can't be fast.
    return Int64(min(most, Double(limit) * Self.progressTime / Double(4 * max(settings.downloads, 1))))
  }

  /// Does what `download` needs by now: the one place where responses are asked for and given up.
  func update(_ download: Download) {
    if download.flows.isEmpty { download.refusesBeside = false }
    // Where its files have just been deleted, that is known in a moment.
    if checking.contains(download.key) { return }
    prepareStore(of: download)
    completeIfWhole(download)
    answerReaders(of: download)
    let isDue = isDue(download)
    var waits = download.fetchableWaits
    if let index = download.indexRange, download.isOpenForDownload { waits.append(index) }
    let wantsWhole = download.isRunnable
    if isStopping || !wantsWhole && waits.isEmpty && !download.readsThrough || download.isAskingForAddress {
      endFlows(of: download)
    } else if isDue && !isStoreRefused(download) && hasRoom(for: download) {
      ask(download, waits, wantsWhole: wantsWhole)
    }
    for flow in download.flows {
      if !download.isBackground { unhold(flow, .throttle) }
      pump(flow, download)
    }
    if download.isWanted {
      download.record.state = download.flows.isEmpty ? .queued : .downloading
    }
    if download.flows.isEmpty {
      download.meter.stop()
      download.isConfirmed = false
    }
    releaseStore(of: download)
  }

  /// Whether it may be tried now; if not, it is looked at again when it may.
  private func isDue(_ download: Download) -> Bool {
    guard let retryAt = download.retryAt else { return true }
    if retryAt <= now.instant {
      download.retryAt = nil
      return true
    }
    timers.add(.download(download.key), at: retryAt)
    return false
  }

  /// All is here.
  private func completeIfWhole(_ download: Download) {
    guard let store = download.openStore, store.isComplete, download.record.state != .cached else { return }
    endFlows(of: download)
    guard store.isLinked else {
      // Its readers have it all; nobody else can.
      if download.isWanted { download.record.state = .remote }
      return
    }
    download.wasPaused = download.record.state == .paused
    // Also of what nobody wanted whole, or was paused: there is nothing left to wait for.
    download.record.state = .cached
    download.record.error = nil
    download.record.failed = nil
    download.record.notBefore = nil
    download.forbiddenUntil = nil
    download.roomBackoff = Backoff()
    download.record.total = store.representation.total
    download.backoff = Backoff()
    download.hasSlot = false
    flush(store, after: 0)
    watchRoom()
    reconsider()
  }
}
