internal import PodcastModel
internal import TransferProtocol

// What runs.
extension Engine {
  /// Which of the wanted downloads may run in the background: those that run already, then by order, as
  /// `downloads`, `per_host` and the room allow.
  func assignSlots() {
    let chosen = candidates()
    let admitted = withRoom(chosen)
    var asked = downloads.placed
    for download in chosen { asked[download.key] = download }
    let isChosen = Set(chosen.map(\.key))
    for download in asked.values.sorted(by: { $0.key < $1.key }) where download.isBackground {
      let may = admitted.contains(download.key)
      let isFull = isChosen.contains(download.key) && !may
      if isFull != (download.record.error == Self.cacheIsFull) {
        download.record.error = isFull ? Self.cacheIsFull : nil
        touch(download)
      }
      if may != download.hasSlot {
        download.hasSlot = may
        touch(download)
      }
      downloads.note(download)
    }
  }

  /// Those that run before those that wait, each by their order, as many as there are slots.
  private func candidates() -> [Download] {
    var used: [String: Int64] = [:]
    var chosen: [Download] = []
    room.hasQueue = false
    /// - Returns: false where its host has enough to do.
    func choose(_ download: Download) -> Bool {
      let host = sender(of: download)
      if used[host, default: 0] >= settings.perHost { return false }
      used[host, default: 0] += 1
      chosen.append(download)
      return true
    }
    for download in downloads.runningInOrder
    where download.isBackground && download.retryAt.map({ $0 <= now.instant }) ?? true {
      if chosen.count >= settings.downloads {
        room.hasQueue = true
        return chosen
      }
      _ = choose(download)
    }
    let isLull = lull.map { now.instant < $0 } ?? false
    // The first of each host's line; a line whose host has enough to do, or rests, is left as a whole.
    var heads: [(line: WaitingLine, index: Int, rank: WaitingLine.Rank, download: Download)] = []
    func advance(_ line: WaitingLine, from index: Int) {
      var next = line.next(from: index, at: now.instant)
      while isLull, let (at, _, download) = next, !download.hasSlot {
        next = line.next(from: at + 1, at: now.instant)
      }
      if let next { heads.append((line, next.index, next.rank, next.download)) }
    }
    for line in downloads.lines.values where line.members.first.map({ !isLeftAlone($0.download) }) ?? false {
      advance(line, from: 0)
    }
    while let first = heads.indices.min(by: { heads[$0].rank < heads[$1].rank }) {
      let head = heads.remove(at: first)
      if chosen.count >= settings.downloads {
        room.hasQueue = true
        break
      }
      if choose(head.download) { advance(head.line, from: head.index + 1) }
    }
    return chosen
  }

  /// Seconds for which a slot that the user has freed stays free: who pauses or cancels a thousand, one after the
  /// other, does not have each of them begun before.
  private static let lullTime = 0.2

  /// The user takes away what has a slot.
  func beginLull(for download: Download) {
    guard download.isBackground, download.hasSlot else { return }
    let end = now.instant.adding(Self.lullTime)
    lull = end
    timers.add(.queue, at: end)
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
    let others = downloads.runningInOrder.filter {
      $0 !== download && $0.isBackground && $0.sender == host
    }
    return others.count >= settings.perHost
  }

  /// A slot is for who makes progress: of those that others wait for, who has brought next to nothing for a while
  /// is tried again later.
  func yieldSlots() {
    for download in downloads.runningInOrder where download.isBackground {
      var isSlow = true
      for flow in download.flows {
        let last = flow.progress ?? (flow.arrived, now.instant)
        let age = now.instant.seconds(since: last.time)
        if age < Self.progressTime {
          isSlow = false
          flow.progress = last
        } else {
          let isProgress = flow.arrived - last.arrived >= leastProgress
          if isProgress { download.crawls = false }
          if isProgress || flow.intake == nil { isSlow = false }
          flow.progress = (flow.arrived, now.instant)
        }
      }
      guard isSlow && room.hasQueue else { continue }
      download.crawls = true
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
    if download.isUnseen { return }
    // Where its files have just been deleted, that is known in a moment.
    if isChecking(download) {
      let isOfUse = download.isRunnable || !download.fetchableWaits.isEmpty || download.readsThrough
      if !isOfUse { endFlows(of: download) }
      return
    }
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
    givePrecedence(in: download)
    for flow in download.flows {
      if !download.isBackground { unhold(flow, .throttle) }
      pump(flow, download)
    }
    if download.isWanted {
      download.record.state = download.flows.isEmpty ? .queued : .downloading
    }
    if download.flows.isEmpty {
      dropTail(of: download)
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
      // Its readers have it all; nobody else can: what was ordered comes again, where others find it.
      if download.isWanted && store.pending == 0 {
        answerReaders(of: download)
        forgetBytes(of: download)
        touch(download)
      }
      return
    }
    download.wasPaused = download.record.state == .paused
    download.isOnItsWayToTheDisk = download.isWanted
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
