internal import PodcastModel
internal import TransferProtocol

// What clients ask for.
extension Engine {
  /// A client has gone: its readers are gone, its downloads go on.
  func leave(_ client: ClientID) {
    clients[client] = nil
    for name in handles.keys.filter({ $0.client == client }).sorted(by: { $0.id < $1.id }) { close(name) }
    orders.new.removeAll { $0.client == client }
    orders.waiting.removeAll { $0.client == client }
    orders.afterRemoval.removeAll { $0.client == client }
  }

  func perform(_ message: ClientMessage, of client: ClientID) {
    guard clients[client] != nil else { return }
    switch message {
    // The others' business.
    case .hello, .shown: break
    case .settings(let settings): use(settings)
    case .open(let id, let request, let intent, let generation):
      open(HandleName(client: client, id: id), request, intent, generation)
    case .close(let id): close(HandleName(client: client, id: id))
    case .wait(let id, let open, let offset, let count):
      wait(id, HandleName(client: client, id: open), offset, count)
    case .endWait(let id): endWait(id, client)
    case .start(let id, let request):
      let download = known(request)
      let before = download.record
      note(asker: nil, of: download)
      want(download, isExplicit: true)
      confirm(id, client, request.key, before: before)
    case .pause(let id, let request):
      let download = known(request)
      let before = download.record
      pause(download)
      confirm(id, client, request.key, before: before)
    case .drop(let id, let key):
      let download = downloads[key]
      let before = download.flatMap { isDroppedByItsFiles($0) ? nil : $0.record }
      if let download { drop(download) }
      confirm(id, client, key, before: before, triesAgain: true)
    case .forget(let id, let key):
      let download = downloads[key]
      let before = download?.record
      if let download {
        download.record.isKept = false
        download.isToBeForgotten = true
        dropForgotten(download)
      }
      confirm(id, client, key, before: before, triesAgain: true)
    case .leave(let id, let key):
      let download = downloads[key]
      let before = download?.record
      if let download, !download.isAskedForByOthers { leave(download) }
      confirm(id, client, key, before: before)
    case .setKept(let id, let request, let kept):
      // What is being let go of at this moment is not there to be kept.
      if room.evicting.contains(request.key) { return room.deferred.append((client, message)) }
      let download = known(request)
      let before = download.record
      download.record.isKept = kept
      touch(download)
      confirm(id, client, request.key, before: before)
    case .freshAddress(let key, let url): heardAddress(key, url)
    case .damaged(let id, let key, let generation, let ranges):
      let before = downloads[key]?.record
      discard(ranges, of: key, generation)
      confirm(id, client, key, before: before, awaitsDiscard: true)
    }
  }

  private func use(_ new: TransferSettings) {
    if new == settings { return }
    if new.minimumFree != settings.minimumFree { roomHasChanged() }
    settings = new
    throttle.set(rate: new.limitRate, at: now.instant)
    letGoOfThrottled()
    emit(.saveSettings(new))
    for download in downloads.busy.values where download.isWanted { touch(download) }
  }

  /// The download of a request, with the facts as the client knows them now.
  private func known(_ request: TransferRequest) -> Download {
    if let download = downloads[request.key] {
      download.isToBeForgotten = false
      if download.record.request.url != request.url {
        download.isDirectRefused = true
        download.sender = nil
        // It is what was looked for.
        download.askedAddress = nil
      }
      download.record.request = request
      return download
    }
    let download = Download(record: TransferRecord(request: request), now: now)
    downloads.insert(download)
    return download
  }

  private func open(
    _ name: HandleName, _ request: TransferRequest, _ intent: OpenIntent, _ generation: UInt32?
  ) {
    let isRepeated = handles[name]?.isOpening == false
    close(name)
    // Who had it open before a daemon was killed does not ask for what was forgotten meanwhile.
    let isToBeForgotten = generation != nil && downloads[request.key]?.isToBeForgotten == true
    let download = known(request)
    download.isToBeForgotten = isToBeForgotten
    let handle = ReaderHandle(
      name, of: request.key, intent, generation: generation, begun: now.instant)
    handles[name] = handle
    download.handles.append(handle)
    // One that is said again, to a new daemon, wants no more than the store says, unless that had not heard of it.
    let isNews = (generation == nil || download.record.order == 0) && !isToBeForgotten
    if intent == .download && isNews {
      note(asker: name.client, of: download)
      want(download, isExplicit: false)
    }
    if intent == .fetchOnly { forgive(download) }
    // It can't open what it was told of: somebody may have deleted that.
    if isRepeated { checkCache([download.key]) }
    hurry(download)
    touch(download)
  }

  private func close(_ name: HandleName) {
    guard let handle = handles.removeValue(forKey: name), let download = downloads[handle.key] else { return }
    download.handles.removeAll { $0 === handle }
    if download.isToBeForgotten && download.handles.isEmpty { dropForgotten(download) }
    touch(download)
  }

  private func wait(_ id: UInt64, _ name: HandleName, _ offset: Int64, _ count: Int64) {
    guard let handle = handles[name], let download = downloads[handle.key], offset >= 0, count >= 0 else {
      return reply(.unavailable(wait: id, .notOpen), to: name.client)
    }
    // No file reaches further: windows behind an offset must not overflow.
    let start = min(offset, Limits.largestFile)
    let range = start..<start + min(count, Limits.largestFile)
    handle.waits[id] = ReaderHandle.Wait(range: range, number: nextNumber(), begun: now.instant)
    if handle.intent == .downloadAtRead && !handle.hasRead && !download.isToBeForgotten {
      handle.hasRead = true
      note(asker: name.client, of: download)
      want(download, isExplicit: false)
    }
    download.focus = start
    hurry(download)
    touch(download, queue: false)
  }

  private func endWait(_ id: UInt64, _ client: ClientID) {
    for (name, handle) in handles where name.client == client && handle.waits[id] != nil {
      handle.waits[id] = nil
      if let download = downloads[handle.key] { touch(download, queue: false) }
      return
    }
  }

  /// What one client's readers alone have asked for leaves the queue at that client's word, which can't know of others.
  /// - Parameter client: nil where it is ordered.
  private func note(asker client: ClientID?, of download: Download) {
    switch download.record.state {
    case .remote, .cached:
      download.asker = nil
      download.isAskedForByOthers = false
    case .paused where !download.record.waitsForRoom: download.isAskedForByOthers = true
    case .queued, .downloading, .paused, .failed: break
    }
    let isOther = client == nil || download.asker ?? client != client
    download.isAskedForByOthers = download.isAskedForByOthers || isOther
    download.asker = download.asker ?? client
  }

  /// Makes all of it come. What failed is tried again: at once where `isExplicit`, else not within ten
  /// seconds, and never before the server's Retry-After.
  func want(_ download: Download, isExplicit: Bool) {
    // Deleted: who has it open keeps what there is, others begin anew.
    if isExplicit, let store = download.openStore, !store.isLinked { forgetBytes(of: download) }
    if isExplicit && isInDoubt(download) { download.isWantedAgain = true }
    switch download.record.state {
    case .cached:
      // Until its bytes are on the disk the store says that it is to come.
      if download.record.order == 0 { putLast(download) }
      download.wasPaused = false
      if download.store == nil { download.mustLook = true }
      download.isWantedAgain = download.store?.isOpen != true || isInDoubt(download)
    case .queued, .downloading: break
    case .failed:
      if !isExplicit && (isEarly(download) || isForbidden(download)) { return }
      queue(download)
    case .remote, .paused: queue(download)
    }
    if isExplicit {
      download.refusal = nil
      hurry(download)
      if hosts.hurry(download.host, at: now.instant) { reconsider() }
    }
    touch(download)
  }

  /// Whether it has failed just now.
  private func isEarly(_ download: Download) -> Bool {
    download.lastFault.map { now.instant < $0.adding(10) } ?? false
  }

  /// Whether the server wants to be left alone.
  func isForbidden(_ download: Download) -> Bool { download.forbiddenUntil.map { $0 > now.instant } ?? false }

  /// What is fetched only as it is read is tried again after it has failed, as a download is.
  private func forgive(_ download: Download) {
    guard download.record.state == .failed, !isEarly(download), !isForbidden(download) else { return }
    download.record.state = .remote
    download.record.forgive()
    download.hasAskedForAddress = false
  }

  func queue(_ download: Download) {
    if download.record.order == 0 || download.record.state == .remote { putLast(download) }
    download.retryAt = download.forbiddenUntil
    download.record.state = .queued
    download.record.forgive()
    download.record.doubts = 0
    download.refusal = nil
    download.backoff = Backoff()
    download.crawls = false
    download.generationsBegun = 0
    download.fruitlessAsks = 0
    download.hasAskedForAddress = false
    // The server may have learnt.
    download.givesRanges = true
    download.strayParts = 0
    download.isDirectRefused = false
    download.isFlushRefused = false
    download.healAt = nil
    download.roomBackoff = Backoff()
  }

  private func putLast(_ download: Download) {
    lastOrder += 1
    download.record.order = lastOrder
  }

  /// A reader has come: a try that was to be made later is made now, unless it has just been made or the
  /// server wants to be left alone.
  private func hurry(_ download: Download) {
    guard download.retryAt != nil, !isForbidden(download), !isRefusing(download) else { return }
    if let last = download.lastFault, now.instant < last.adding(1) { return }
    download.retryAt = nil
  }

  private func pause(_ download: Download) {
    switch download.record.state {
    case .cached where download.received == download.record.total: break
    case .remote, .queued, .downloading, .failed, .paused, .cached:
      beginLull(for: download)
      endFlows(of: download)
      download.askedAddress = nil
      download.isWantedAgain = false
      download.record.state = .paused
      download.record.forgive()
    }
    touch(download)
  }

  /// Nobody wants it any more, but what has come may stay.
  private func leave(_ download: Download) {
    let isWaiting = download.record.state == .queued || download.record.state == .downloading
    guard isWaiting, !download.record.isKept, download.handles.isEmpty else { return }
    beginLull(for: download)
    endFlows(of: download)
    download.record.state = .remote
    download.askedAddress = nil
    download.isWantedAgain = false
    download.record.error = nil
    download.retryAt = nil
    touch(download)
  }

  /// Cancels and drops the bytes.
  func drop(_ download: Download) {
    beginLull(for: download)
    forgetBytes(of: download)
    download.record.state = .remote
    download.askedAddress = nil
    download.isWantedAgain = false
    download.record.forgive()
    download.retryAt = nil
    touch(download)
  }
}
