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
    guard needsStore(download), download.hasFiles != false else { return }
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
    let old = download.record.generation
    // The same file has the same number again: who still reads what was deleted of it goes on.
    let former =
      download.store == nil && download.former?.generation == old ? download.former?.representation : nil
    let known = former.map { representation.completed(by: $0) } ?? representation
    let isSame = former?.isCertainly(known) ?? false
    if let store = download.store {
      if store.received > 0, store.isLinked, !store.representation.isCertainly(representation) {
        let request = download.record.request
        emit(.log("the server has another file for \(request.show) – \(request.title): begun anew"))
      }
      stores[store.id] = nil
      emit(.store(store.id, .close(isComplete: false)))
    }
    let store = Store(StoreID(nextNumber()), .creating(flow.id), generation: old, representation)
    attach(store, to: download)
    recall(known.total, of: store, for: flow)
    download.hasFiles = true
    download.record.received = 0
    emit(.store(store.id, .create(download.key, above: isSame ? old - 1 : old, known)))
  }

  func answered(_ answer: DiskAnswer, by id: StoreID) {
    switch answer {
    case .wrote(_, let range), .notWritten(_, let range, _, _): room.space.answered(range)
    default: break
    }
    guard let download = stores[id], let store = download.store, store.id == id else {
      // Given up meanwhile; its number has been given to these bytes all the same.
      return
    }
    switch answer {
    case .opened(let generation, let representation, let present):
      store.pending -= 1
      opened(store, download, generation, representation, present)
    case .missing:
      close(store, download)
      download.isUnseen = false
      download.hasFiles = false
      download.mustLook = false
      let wasCached = download.record.state == .cached
      if download.record.generation > 0 { forgetBytes(of: download) }
      goOn(download)
      judgeWaiting(of: download)
      if wasCached && (download.isWantedAgain || download.handles.contains(where: \.mayDownload)) {
        want(download, isExplicit: false)
      }
      download.isWantedAgain = false
    case .created(let generation, let total):
      store.pending -= 1
      created(store, download, generation, total)
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
    _ store: Store, _ download: Download, _ generation: UInt32, _ representation: Representation,
    _ present: ByteRanges
  ) {
    store.phase = .open
    store.generation = generation
    store.opened(representation, present: present)
    download.hasFiles = true
    download.mustLook = false
    download.hasBeenOpened = true
    download.isUnseen = false
    if download.storeRefusedUntil != nil {
      // It was the disk's fault alone.
      download.storeRefusedUntil = nil
      download.retryAt = download.forbiddenUntil
      download.backoff = Backoff()
    }
    download.record.generation = generation
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

  /// The size is known though the response does not tell it: that of the same file before.
  private func recall(_ total: Int64?, of store: Store, for flow: Flow?) {
    guard let total, store.representation.total == nil else { return }
    store.recall(total: total)
    flow?.verdict?.representation.total = total
  }

  private func created(_ store: Store, _ download: Download, _ generation: UInt32, _ total: Int64?) {
    guard case .creating(let id) = store.phase else { return }
    recall(total, of: store, for: flows[id]?.flow)
    store.phase = .open
    // Only now: its number was not to be given again.
    let old = store.generation
    if old > 0 && old != generation { remove(download.key, old) }
    store.generation = generation
    download.record.generation = generation
    download.record.total = store.representation.total
    download.record.received = 0
    download.beginsAnew = false
    // A journal of its own, which has been told nothing.
    download.noted = nil
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
    if failure.kind == .cut { logDamage(of: download, ": \(failure.message)") }
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
      download.hasFiles = nil
    } else {
      store.discards = 0
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
    guard store.isOpen, !store.isFlushing, store.unflushed > least || store.isDescriptionNew else { return }
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
    note(download)
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
      download.hasLetGo = true
      download.dropped = (download.record.generation, download.received, download.record.state == .cached)
    }
    if let store = download.store {
      if store.isOpen { download.former = (store.generation, store.representation) }
      stores[store.id] = nil
      download.store = nil
      emit(.store(store.id, .discard))
    }
    if download.record.generation > 0 { remove(download.key, download.record.generation) }
    download.hasFiles = download.record.generation > 0 ? false : download.hasFiles
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
  func missing(_ keys: [MediaKey], _ lengths: [MediaKey: Int64]) {
    let checked = checks.isEmpty ? [:] : checks.removeFirst()
    measure(lengths.compactMap { key, length in checked[key].map { (key, $0.generation, length) } })
    for key in keys {
      // One that was begun meanwhile is there.
      guard let download = downloads[key], let look = checked[key],
        download.record.generation == look.generation, download.store?.isOpen ?? true
      else { continue }
      // The same number again, or opened meanwhile: that one was not looked for.
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

  /// Goes on with a generation that the cache has and the record does not know of.
  private func goOn(_ download: Download) {
    guard download.foundGeneration > download.record.generation else { return }
    download.record.generation = download.foundGeneration
    download.hasFiles = nil
  }

  /// Removes the files of generations that a crash left behind; takes up what no record speaks of and its journal
  /// tells of, and removes the rest of that where whoever was reading it when the daemon was killed would have asked
  /// again by now.
  func sweep(_ files: [FoundFile]) {
    adopt(files.sorted { ($0.written, $0.key) < ($1.written, $1.key) }.compactMap(\.record))
    for file in files.sorted(by: { ($0.key, $0.generation) < ($1.key, $1.generation) }) {
      if let download = downloads[file.key] {
        guard file.generation > download.record.generation else { continue }
        download.foundGeneration = max(download.foundGeneration, file.generation)
        if download.store == nil { goOn(download) }
      }
    }
    for file in files.sorted(by: { ($0.key, $0.generation) < ($1.key, $1.generation) }) {
      if let download = downloads[file.key] {
        if file.generation < download.record.generation { remove(file.key, file.generation) }
        if download.isToBeForgotten && download.handles.isEmpty { dropForgotten(download) }
      } else if file.written < now.wall - 3600 {
        remove(file.key, file.generation)
      }
    }
    measure(files.compactMap { file in file.length.map { (file.key, file.generation, $0) } })
  }
}
