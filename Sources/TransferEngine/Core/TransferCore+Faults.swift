internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension TransferCore {
  mutating func handle(_ fault: Fault, of download: inout Download) {
    touch(&download)
    // What the user holds stays held.
    if download.demand == .paused { return endFetches(of: &download) }
    download.retry.failed(at: now, retryAfter: fault.retryAfter)
    download.retry.lacksRoom = fault.isOfRoom
    if fault.isOfRoom { endFetches(of: &download) }
    // While episodes are let go of, readers wait.
    if fault.kind == .noRoom && makesRoom(for: download) {
      download.retry.refusal = nil
      return tryLater(&download, fault)
    }
    let waitsForCache = fault.kind == .noRoom && download.isBackground && !download.servesReaders
    download.record.error = waitsForCache ? Self.cacheIsFull : fault.message
    download.retry.refusal = fault.readerErrno.map {
      Retry.Refusal(failure: TransferFailure($0, fault.message), at: now.instant)
    }
    switch fault.kind {
    case .doubtful where download.retry.isCertain(at: now.wall, in: network): fail(&download)
    case .passing, .doubtful, .noRoom, .runtimeFull:
      tryLater(&download, fault)
      if fault.host != nil,
        let until = hosts.failed(
          download.source.named, by: download.key, retryAfter: fault.retryAfter, at: now.instant, &random)
      {
        timers.add(.queue, at: until)
      }
    case .expired where askForAddress(&download): break
    case .lasting, .expired: fail(&download)
    }
  }

  private mutating func fail(_ download: inout Download) {
    endFetches(of: &download)
    download.demand = .failed
    download.retry.until = nil
  }

  /// Tries again later, with jitter so that not all come at once.
  private mutating func tryLater(_ download: inout Download, _ fault: Fault) {
    // For want of room each try costs what comes before the disk refuses it.
    let isWaitedFor = !fault.isOfRoom && download.readers.contains { $0.isOpening || !$0.waits.isEmpty }
    let delay = download.retry.failed(
      received: download.openFiles?.received ?? 0, of: download.record.generation, isWaitedFor: isWaitedFor)
    retry(&download, at: now.instant.adding(max(random.jitter(delay), fault.retryAfter ?? 0)))
  }

  mutating func retry(_ download: inout Download, at time: Instant) {
    // Whatever else has failed, not before the server's Retry-After.
    let time = max(time, download.retry.forbiddenUntil ?? time)
    download.retry.until = time
    timers.add(.download(download.key), at: time)
  }

  /// Asks the mounts for a fresh address, once; answers whether there is anyone to ask.
  private mutating func askForAddress(_ download: inout Download) -> Bool {
    if download.isSearching { return true }
    let able = clients.filter(\.value).keys.sorted()
    guard download.search == .none, !able.isEmpty else { return false }
    let url = download.record.request.url
    let until = now.instant.adding(Self.searchTime)
    download.search = .asked(old: url, until: until)
    for client in able { emit(.send(client, .needAddress(download.key, url: url))) }
    timers.add(.download(download.key), at: until)
    return true
  }

  /// Seconds that a fresh address is waited for.
  private static let searchTime = 20.0

  mutating func endSearchIfOverdue(_ download: inout Download) {
    guard case .asked(_, let until) = download.search, isPast(until, for: download.key) else { return }
    download.search = .done
    fail(&download)
  }

  mutating func heardAddress(_ key: MediaKey, _ url: String?) {
    change(key) { core, download in
      guard case .asked(let old, _) = download.search else { return }
      download.search = .done
      guard let url, url != old else {
        download.retry.failed(at: core.now)
        return core.fail(&download)
      }
      var request = download.record.request
      request.url = url
      download.take(request)
      download.record.error = nil
    }
  }

  mutating func endResponses() {
    changeAll(where: { !$0.fetches.isEmpty }) { core, download in
      for fetch in download.fetches { core.pump(fetch.id, &download, .all) }
      core.endFetches(of: &download)
    }
  }

  /// Asks again for what was under way before sleep: its connections are gone, and say so only after minutes.
  mutating func resumed() {
    endResponses()
    networkChanged()
  }

  /// Asks again at once where a try was to be made later for want of a network; not where the server has told a time.
  mutating func networkChanged() {
    network += 1
    hosts.endAll()
    reconsider()
    changeAll(where: { $0.retry.until != nil }) { core, download in
      download.retry.networkChanged(at: core.now.instant)
    }
  }
}
