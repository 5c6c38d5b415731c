internal import PodcastModel
internal import TransferProtocol

// The files of a download: when they are opened, flushed, closed, and no more.
extension Engine {
  func isStoreRefused(_ download: Download) -> Bool {
    download.storeRefusedUntil.map { $0 > now.instant } ?? false
  }

  private func needsStore(_ download: Download) -> Bool {
    !isStopping && (!download.handles.isEmpty || download.isRunnable || download.mustLook)
  }

  /// Opens what is stored of the current generation, where it is needed and there may be any.
  func prepareStore(of download: Download) {
    if let store = download.store {
      // Deleted with the cache: who has it open keeps it, and what comes for them; others begin anew.
      if store.isOpen && !store.isLinked && !download.isHeldByReaders { forgetBytes(of: download) }
      if download.store != nil { return }
    }
    guard needsStore(download), download.hasFiles else { return }
    if let until = download.storeRefusedUntil, until > now.instant {
      return timers.add(.download(download.key), at: until)
    }
    let store = Store(
      StoreID(nextNumber()), .opening, generation: download.record.generation, Representation())
    attach(store, to: download)
    emit(.store(store.id, .open(download.key, generation: download.record.generation)))
  }

  private func attach(_ store: Store, to download: Download) {
    store.pending += 1
    download.store = store
    stores[store.id] = download
  }

  /// Begins a new generation for a response's bytes; readers of the old one keep what had come of it.
  func beginGeneration(of download: Download, _ representation: Representation, for flow: Flow) {
    if let store = download.store {
      if store.received > 0, store.isLinked, !store.representation.isCertainly(representation) {
        let request = download.record.request
        emit(.log("the server has another file for \(request.show) – \(request.title): begun anew"))
      }
      stores[store.id] = nil
      emit(.store(store.id, .close(isComplete: false)))
    }
    let generation = nextGeneration(after: download.record.generation)
    let store = Store(
      StoreID(nextNumber()), .creating(flow.id), generation: generation, representation)
    attach(store, to: download)
    emit(.store(store.id, .create(download.key, generation: generation, representation)))
  }

  /// A number that no other bytes of the episode ever had: the kernel keeps pages by it, for longer than the store, the
  /// cache or a daemon live. Its last nine bits count, because the mount has no more room for it in a node's number.
  private func nextGeneration(after old: UInt32) -> UInt32 {
    let chance = UInt32(truncatingIfNeeded: random.next()) << 9
    return max(chance, 1 << 9) | (old &+ 1) & 0x1ff
  }

  func answered(_ answer: DiskAnswer, by id: StoreID) {
    switch answer {
    case .wrote(_, let range), .notWritten(_, let range, _, _): room.space.answered(range)
    default: break
    }
    guard let download = stores[id], let store = download.store, store.id == id else {
      // Given up meanwhile.
      return
    }
    switch answer {
    case .opened(let representation, let present):
      store.pending -= 1
      opened(store, download, representation, present)
    case .missing:
      close(store, download)
      // Another one was found meanwhile.
      if store.generation != download.record.generation { return touch(download) }
      if !isCacheListed {
        // Another one may have been begun just before a daemon was killed.
        download.isUnseen = true
        return touch(download)
      }
      download.hasFiles = false
      download.mustLook = false
      let wasCached = download.record.state == .cached
      forgetBytes(of: download)
      judgeWaiting(of: download)
      if wasCached && (download.isWantedAgain || download.handles.contains(where: \.mayDownload)) {
        want(download, isExplicit: false)
      }
      download.isWantedAgain = false
    case .created:
      store.pending -= 1
      created(store, download)
    case .wrote(let flow, let range):
      store.pending -= 1
      return wrote(range, of: flow, store, download)
    case .notWritten(_, _, let failure, let present):
      store.pending -= 1
      notWritten(failure, present, store, download)
    case .compared(let flow, let range, let agreed):
      store.pending -= 1
      return compared(range, agreed: agreed, of: flow, download)
    case .described:
      store.pending -= 1
      store.described()
      flush(store, after: Limits.flushAfter)
    case .discarded(let present):
      store.pending -= 1
      discarded(present, store, download)
    case .flushed:
      store.isFlushing = false
      if store.unflushed == 0 { download.isOnItsWayToTheDisk = false }
      if store.unflushed >= Limits.flushAfter { flush(store, after: 0) }
      if !download.flows.isEmpty { return }
    case .notFlushed(let failure, let present): notFlushed(failure, present, store, download)
    case .failed(let failure):
      store.pending -= 1
      failed(failure, store, download)
    }
    touch(download)
  }

  private func opened(
    _ store: Store, _ download: Download, _ representation: Representation, _ present: ByteRanges
  ) {
    store.phase = .open
    store.opened(representation, present: present)
    download.hasFiles = true
    download.mustLook = false
    download.hasBeenOpened = true
    if download.storeRefusedUntil != nil {
      // It was the disk's fault alone.
      download.storeRefusedUntil = nil
      download.retryAt = download.forbiddenUntil
      download.backoff = Backoff()
    }
    download.record.total = representation.total
    tellDamage(to: store, download)
    if download.record.state == .cached && !store.isComplete {
      // The disk has lost what it never took.
      let isWanted = download.isOpenForDownload || download.isWantedAgain || store.isDamaged
      download.record.state = isWanted ? .queued : .remote
    }
    if !isInDoubt(download) { download.isWantedAgain = false }
    if store.mustBeChecked { checkCache([download.key]) }
    store.mustBeChecked = false
    judgeWaiting(of: download)
  }

  private func created(_ store: Store, _ download: Download) {
    guard case .creating(let id) = store.phase else { return }
    store.phase = .open
    if download.record.generation > 0 { remove(download.key, download.record.generation) }
    download.hasFiles = true
    download.hasBeenOpened = true
    download.record.generation = store.generation
    download.record.total = store.representation.total
    download.record.received = 0
    download.beginsAnew = false
    download.needsOverlap = false
    download.receivedAtFault = 0
    download.generationsBegun += 1
    download.isFlushRefused = false
    if store.mustBeChecked { checkCache([download.key]) }
    store.mustBeChecked = false
    if let (flow, _) = flows[id] { begun(flow, download) } else { adoptGeneration(download) }
  }

  /// The disk has refused a piece.
  private func notWritten(
    _ failure: DiskFailure, _ present: ByteRanges, _ store: Store, _ download: Download
  ) {
    // Others may have been on their way behind the first.
    let isFirst = !download.flows.isEmpty || download.isWanted && download.retryAt == nil
    endFlowsLosing(download)
    store.setPresent(present)
    if isFirst { suffer(failure, download) }
  }

  /// The disk refused to open, create, compare or describe.
  private func failed(_ failure: DiskFailure, _ store: Store, _ download: Download) {
    if store.phase == .opening {
      close(store, download)
      for flow in download.flows where flow.isStopped {
        flow.lose()
        endFlow(flow, of: download)
      }
      // The bytes are there; something is lacking that may be there again.
      download.storeRefusedUntil = now.instant.adding(1)
      suffer(Fault(failure.kind == .full ? .noRoom : .passing, failure.message), download)
      return
    }
    let isCreating = !store.isOpen
    endFlowsLosing(download)
    if isCreating {
      close(store, download)
    } else {
      store.discards = 0
      store.refusedDescription()
      store.setPresent(store.present)
    }
    suffer(failure, download)
  }

  /// The disk has refused something.
  private func suffer(_ failure: DiskFailure, _ download: Download) {
    if failure.isOfCache && makesRoom(for: download) { return touch(download) }
    suffer(Fault(failure), download)
  }

  /// Gives up all responses, and what they hold: the disk takes nothing.
  private func endFlowsLosing(_ download: Download) {
    dropTail(of: download)
    for flow in download.flows {
      flow.lose()
      endFlow(flow, of: download)
    }
  }

  /// Brings what is written to the disk; at most one flush of an episode waits.
  /// - Parameter least: bytes for which it is worth it.
  func flush(_ store: Store, after least: Int64) {
    // The disk does its orders at once: a flush could come before the description that it is to keep.
    guard store.isOpen, !store.isFlushing, store.undescribed == 0,
      store.unflushed > least || store.isDescriptionNew
    else { return }
    store.beginFlush()
    emit(.flush(store.id))
  }

  private func notFlushed(_ failure: DiskFailure, _ present: ByteRanges, _ store: Store, _ download: Download)
  {
    // What is on its way is not lost yet.
    endFlowsLosing(download)
    store.notFlushed(present: present)
    download.isFlushRefused = true
    download.waitsToFlush = failure.kind == .full
    if download.record.state == .cached && !store.isComplete {
      download.record.state = download.wasPaused ? .paused : .queued
    }
    suffer(failure.kind == .full ? failure : DiskFailure(.passing, failure.message), download)
  }

  /// Closes what nobody needs, after its bytes are on the disk.
  func releaseStore(of download: Download) {
    guard let store = download.store, store.isOpen, download.flows.isEmpty, store.pending == 0,
      !store.isFlushing, !needsStore(download)
    else { return }
    if !store.isFlushed {
      if !download.isFlushRefused { return flush(store, after: 0) }
      // There will be room again, and then the journal can say what is here.
      if download.waitsToFlush && !isStopping { return }
    }
    download.record.received = store.received
    if !store.isLinked { return forgetBytes(of: download) }
    stores[store.id] = nil
    download.store = nil
    emit(.store(store.id, .close(isComplete: store.isComplete && store.isFlushed)))
  }

  private func close(_ store: Store, _ download: Download) {
    stores[store.id] = nil
    download.store = nil
    emit(.store(store.id, .close(isComplete: false)))
  }

  /// The bytes are gone or to go: dropped by the user, evicted, or the cache folder was deleted.
  func forgetBytes(of download: Download) {
    endFlowsLosing(download)
    if download.received > 0 {
      download.dropped = (download.record.generation, download.received, download.record.state == .cached)
    }
    if let store = download.store {
      stores[store.id] = nil
      download.store = nil
      emit(.store(store.id, .discard))
    }
    if download.record.generation > 0 { remove(download.key, download.record.generation) }
    download.hasFiles = false
    download.mustLook = false
    download.isOnItsWayToTheDisk = false
    download.isFlushRefused = false
    download.waitsToFlush = false
    download.isConfirmed = false
    download.needsOverlap = false
    download.beginsAnew = false
    download.indexRange = nil
    // Its size stays known, until the server says another.
    download.record.received = 0
    if download.record.state == .cached { download.record.state = .remote }
  }

  /// Somebody may have deleted files of the cache, or written to them.
  func checkCache(_ keys: Set<MediaKey>?) {
    let known = keys.map { $0.compactMap { downloads[$0] } } ?? Array(downloads.all.values)
    // What is being opened or made is looked at when it is.
    for download in known where download.store?.isOpen == false { download.store?.mustBeChecked = true }
    let checked = known.filter { download in
      download.record.generation > 0
        && (download.store.map { $0.isOpen && $0.isLinked }
          ?? (download.received > 0 || download.record.state == .cached))
    }
    .sorted { $0.key < $1.key }
    if checked.isEmpty { return }
    checks.append(checked.reduce(into: [:]) { $0[$1.key] = ($1.record.generation, $1.store?.id) })
    emit(.check(checked.map { GenerationName(key: $0.key, generation: $0.record.generation) }))
  }

  /// Whether its data file is being looked for.
  func isChecking(_ download: Download) -> Bool { checks.contains { $0[download.key] != nil } }

  /// Whether its file may be gone, which will be known in a moment.
  func isInDoubt(_ download: Download) -> Bool {
    isChecking(download) || download.store?.mustBeChecked == true || room.evicting.contains(download.key)
  }

  /// The answer to `check`.
  func missing(_ keys: [MediaKey]) {
    let checked = checks.isEmpty ? [:] : checks.removeFirst()
    for key in keys {
      // One that was begun meanwhile is there.
      guard let download = downloads[key], let look = checked[key],
        download.record.generation == look.generation, download.store?.isOpen ?? true
      else { continue }
      // Opened meanwhile: that one was not looked for.
      if download.store?.id != look.store {
        checkCache([key])
        continue
      }
      // Before its last bytes are on the disk an order is not done.
      let isComing = download.record.state == .cached && download.isOnItsWayToTheDisk
      let isWantedAgain = download.isWantedAgain || isComing
      download.isWantedAgain = false
      if let store = download.store, !store.isComplete, !isWantedAgain {
        store.isLinked = false
      } else {
        forgetBytes(of: download)
        if isWantedAgain { want(download, isExplicit: false) }
      }
    }
    for key in checked.keys.sorted() {
      guard let download = downloads[key] else { continue }
      // Where it is cached and nobody has it open, it is still to be opened.
      let isToBeOpened = download.record.state == .cached && download.openStore == nil
      if !isInDoubt(download) && !isToBeOpened { download.isWantedAgain = false }
      touch(download)
    }
  }

  /// Takes up files that the store does not know: complete ones where it was lost, and those that were begun just before
  /// a daemon was killed. Removes the others that are of no use.
  func sweep(_ files: [FoundFile]) {
    isCacheListed = true
    var adopted: Set<MediaKey> = []
    let found = Set(files.map { GenerationName(key: $0.key, generation: $0.generation) })
    // Of each episode the latest.
    for file in files.sorted(by: { ($0.written, $0.key) > ($1.written, $1.key) }) where adopt(file, found) {
      adopted.insert(file.key)
    }
    if !adopted.isEmpty {
      emit(.log("found \(adopted.count) episodes in the cache that the store did not know"))
    }
    // Also one that rests, as paused: nothing is done for it before.
    let unseen = downloads.all.values.filter(\.isUnseen).sorted { $0.key < $1.key }
    for download in unseen {
      download.isUnseen = false
      if !adopted.contains(download.key) { forgetBytes(of: download) }
      touch(download)
    }
    for file in files.sorted(by: { ($0.key, $0.generation) < ($1.key, $1.generation) }) {
      let download = downloads[file.key]
      if file.generation != download?.record.generation && file.generation != download?.store?.generation {
        remove(file.key, file.generation)
      }
      if let download, download.isToBeForgotten, download.handles.isEmpty { dropForgotten(download) }
    }
  }

  private func adopt(_ file: FoundFile, _ found: Set<GenerationName>) -> Bool {
    if let download = downloads[file.key] {
      let isHere = found.contains(GenerationName(key: file.key, generation: download.record.generation))
      let isOpening = download.store.map { $0.phase == .opening } ?? true
      guard !isHere, isOpening, !download.hasBeenOpened else { return false }
      download.hasFiles = true
      download.mustLook = true
      download.record.generation = file.generation
      return true
    }
    guard let size = file.size else { return false }
    var record = TransferRecord.unknown(file.key)
    (record.state, record.generation, record.total, record.received) = (.cached, file.generation, size, size)
    let download = Download(record: record, now: now)
    download.isToBeForgotten = false
    downloads.insert(download)
    touch(download)
    return true
  }
}

extension TransferRecord {
  /// Of an episode that is known by its file alone.
  fileprivate static func unknown(_ key: MediaKey) -> TransferRecord {
    TransferRecord(request: TransferRequest(key: key, url: "", title: "", show: "", fileName: ""))
  }
}
