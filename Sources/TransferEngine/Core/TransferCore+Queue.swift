internal import PodcastModel
internal import TransferProtocol

extension TransferCore {
  /// Gives slots to those that run already, then by order, as `downloads`, `per_host` and the room allow.
  mutating func assignSlots() {
    // `update` gives each download its slot.
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
      change(key, isQuiet: true) { _, download in
        download.slot = slot
        download.isDirty = true
      }
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
    if phase == .listing && download.content == .nothing || space.evicting.contains(download.key)
      || log.isDropping(download.key)
    {
      return
    }
    // An order on its way may be to keep it, or to download it.
    if download.record.dropsAtClose, !log.ordered.contains(download.key), dropClosed(&download) { return }
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
