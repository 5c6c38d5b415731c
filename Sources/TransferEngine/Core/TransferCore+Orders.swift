internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension TransferCore {
  mutating func leave(_ client: ClientID) {
    clients[client] = nil
    let end = now.instant.adding(Download.patience)
    for (name, key) in handles.filter({ $0.key.client == client }).sorted(by: { $0.key.id < $1.key.id }) {
      change(key, isQuiet: true) { _, download in download.awaitsReaders = end }
      close(name)
    }
  }

  mutating func perform(_ message: ClientMessage, of client: ClientID) {
    guard clients[client] != nil else { return }
    func name(_ id: UInt64) -> ClientNumber { ClientNumber(client: client, id: id) }
    switch message {
    case .hello: break
    case .settings(let settings): use(settings)
    case .open(let id, let request, let intent, let generation): open(name(id), request, intent, generation)
    case .close(let id): close(name(id))
    case .wait(let id, let open, let offset, let count): wait(id, name(open), offset, count)
    case .endWait(let id, let open):
      change(handles[name(open)]) { _, download in
        guard let index = download.readers.firstIndex(where: { $0.name == name(open) }) else { return }
        download.readers[index].waits.removeAll { $0.id == id }
      }
    case .order(let id, let order): hear(order, name(id))
    case .freshAddress(let key, let url): heardAddress(key, url)
    }
  }

  /// An order goes to the disk before it acts. Only files go before that, because they make room for it.
  mutating func hear(_ order: TransferOrder, _ name: ClientNumber) {
    var order = order
    if order.verb == .dropAtClose, downloads.active[order.key]?.isHeldOpen(at: now.instant) != true {
      order = .drop(order.key)
    }
    if order.verb == .replace, downloads.storedName(of: order.key)?.generation != order.generation {
      // Its files may have gone just before an earlier daemon was killed.
      guard let record = downloads.record(of: order.key), record.generation == order.generation,
        record.state == .remote,
        !record.request.url.isEmpty && !record.dropsAtClose
      else { return answer(name) }
      order = .start(record.request)
    }
    if order.takesFiles { change(order.key) { core, download in core.removeFiles(of: &download) } }
    append(order, name)
  }

  private mutating func append(_ order: TransferOrder, _ name: ClientNumber) {
    log.append(.init(name: name, order: order, place: nextPlace(), time: now.instant))
  }

  mutating func dropClosed(_ download: inout Download) -> Bool {
    if !isPast(download.awaitsReaders, for: download.key) || !download.readers.isEmpty { return false }
    removeFiles(of: &download)
    // Nobody waits for the answer.
    append(.drop(download.key), ClientNumber(client: ClientID(0), id: 0))
    return true
  }

  private mutating func use(_ new: TransferSettings) {
    var new = new
    new.queued = new.queued ?? settings.queued
    if new == settings { return }
    settings = new
    measureRoom()
    throttle.set(rate: new.limitRate, at: now.instant)
    letGoOfThrottled()
    emit(.saveSettings(new))
    changeAll(where: \.isWanted)
  }

  private mutating func open(
    _ name: ClientNumber, _ request: TransferRequest, _ intent: OpenIntent, _ generation: UInt32?
  ) {
    let isRepeated = handles[name] != nil
    close(name)
    handles[name] = request.key
    change(request) { core, download in
      let now = core.now.instant
      // A client tells a new daemon what it has had open since before any order that the daemon gets.
      let begun = generation == nil ? now : Instant(nanoseconds: 0)
      download.readers.append(Reader(name: name, intent: intent, generation: generation, begun: begun))
      // The client could not open what it was told of: somebody may have deleted that.
      if isRepeated && download.files != nil {
        download.retry.excuseHost()
        core.endFetches(of: &download, losing: true)
        core.detach(&download)
      }
      // What the client tells anew starts no download that the store does not have.
      if intent == .download && generation == nil {
        download.want(by: name.client, place: core.nextPlace(), at: now)
      }
      // What is fetched only as it is read is tried again after it has failed, as a download is.
      if intent == .fetchOnly, download.demand == .failed, download.retry.mayTryAgain(now) {
        download.withdraw()
        download.record.error = nil
      }
      download.retry.hurry(at: now)
    }
  }

  private mutating func close(_ name: ClientNumber) {
    change(handles.removeValue(forKey: name)) { _, download in
      download.readers.removeAll { $0.name == name }
    }
  }

  private mutating func wait(_ id: UInt64, _ name: ClientNumber, _ offset: Int64, _ count: Int64) {
    guard let key = handles[name], offset >= 0, count >= 0 else {
      return answer(ClientNumber(client: name.client, id: id), .notOpen)
    }
    // No file reaches further: windows behind an offset must not overflow.
    let start = min(offset, Limits.largestFile)
    let range = start..<start + min(count, Limits.largestFile)
    change(key) { core, download in
      guard let index = download.readers.firstIndex(where: { $0.name == name }) else { return }
      var reader = download.readers[index]
      reader.waits.removeAll { $0.id == id }
      reader.waits.append(Reader.Wait(id: id, range: range, begun: core.now.instant))
      let isFirst = !reader.hasRead && !download.isForgotten
      reader.hasRead = reader.hasRead || isFirst
      download.readers[index] = reader
      if isFirst && reader.intent == .downloadAtRead {
        download.want(by: name.client, place: core.nextPlace(), at: core.now.instant)
      }
      download.focus = start
      download.retry.hurry(at: core.now.instant)
    }
  }

  mutating func obey(_ order: CommandLog.Order, _ download: inout Download) {
    if order.order.verb == .start {
      // Deleted: who has it open keeps what there is, others begin anew.
      if download.openFiles?.isLinked == false { forgetBytes(of: &download) }
      if hosts.hurry(download.source.named, for: download.key, at: now.instant) { reconsider() }
    }
    let request = download.record.request
    download.obey(order, at: now.instant)
    if order.order.verb == .start, download.mustLook, download.files != nil { detach(&download) }
    if order.order.takesFiles || order.order.verb == .pause {
      // Who has opened it since the order has it come again.
      let later = download.readers.filter { $0.begun >= order.time }
      if !later.isEmpty { download.take(request) }
      if let reader = later.first(where: \.mayDownload) {
        download.want(by: reader.name.client, place: order.place, at: now.instant)
      }
    }
  }

  /// The names of files have been taken away, or why not: then what is ordered does not happen.
  mutating func removed(_ key: MediaKey, _ failure: TransferFailure?) {
    guard log.removed(key) else { return }
    if let failure {
      for name in log.refuse(key) { answer(name, failure) }
      change(key, isQuiet: true) { core, download in download.refused(at: core.now.instant) }
    } else {
      change(key) { core, download in core.forgetBytes(of: &download, removesNames: false) }
    }
    touch(key)
  }
}
