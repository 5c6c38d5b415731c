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
      changeReader(name(open)) { _, download, index in
        download.readers[index].waits.removeAll { $0.id == id }
      }
    case .order(let id, let order): hear(order, name(id))
    case .freshAddress(let key, let url): heardAddress(key, url)
    }
  }

  private mutating func changeReader(
    _ name: ClientNumber, _ body: (inout TransferCore, inout Download, Int) -> Void
  ) {
    change(handles[name]) { core, download in
      guard let index = download.readers.firstIndex(where: { $0.name == name }) else { return }
      body(&core, &download, index)
    }
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
      if intent == .download && generation == nil { core.want(&download, by: name.client) }
      // What is fetched only as it is read is tried again after it has failed, as a download is.
      if intent == .fetchOnly, download.demand == .failed, download.retry.mayTryAgain(now) {
        download.withdraw()
      }
      download.retry.hurry(at: now)
    }
  }

  mutating func want(_ download: inout Download, by client: ClientID? = nil) {
    download.want(by: client, place: nextPlace(), at: now.instant)
  }

  private mutating func close(_ name: ClientNumber) {
    change(handles.removeValue(forKey: name)) { _, download in
      download.readers.removeAll { $0.name == name }
    }
  }

  private mutating func wait(_ id: UInt64, _ name: ClientNumber, _ offset: Int64, _ count: Int64) {
    guard handles[name] != nil, offset >= 0, count >= 0 else {
      return answer(ClientNumber(client: name.client, id: id), .notOpen)
    }
    // No file reaches further: windows behind an offset must not overflow.
    let start = min(offset, Limits.largestFile)
    let range = start..<start + min(count, Limits.largestFile)
    changeReader(name) { core, download, index in
      var reader = download.readers[index]
      reader.waits.removeAll { $0.id == id }
      reader.waits.append(Reader.Wait(id: id, range: range, begun: core.now.instant))
      let isFirst = !reader.hasRead && !download.isForgotten
      reader.hasRead = reader.hasRead || isFirst
      download.readers[index] = reader
      if isFirst && reader.intent == .downloadAtRead { core.want(&download, by: name.client) }
      download.focus = start
      download.retry.hurry(at: core.now.instant)
    }
  }

  /// Appends an order to the log. It is done when its row is on the disk.
  private mutating func hear(_ order: TransferOrder, _ name: ClientNumber) {
    var order = order
    if order.verb == .dropAtClose, downloads.active[order.key]?.isHeldOpen(at: now.instant) != true {
      order = .drop(order.key)
    }
    if order.verb == .replace, downloads.storedName(of: order.key)?.generation != order.generation {
      // Its files may have gone just before an earlier daemon was killed.
      guard let record = downloads.record(of: order.key), record.generation == order.generation,
        record.state == .remote, !record.request.url.isEmpty, !record.dropsAtClose
      else { return answer(name) }
      order = .start(record.request)
    }
    append(order, name)
  }

  private mutating func append(_ order: TransferOrder, _ name: ClientNumber) {
    log.append(.init(name: name, order: order, place: nextPlace(), time: now.instant))
  }

  mutating func dropIfClosed(_ download: inout Download) {
    guard isPast(download.awaitsReaders, for: download.key), download.readers.isEmpty else { return }
    // Nobody waits for the answer.
    append(.drop(download.key), ClientNumber(client: ClientID(0), id: 0))
  }

  mutating func obey(_ order: CommandLog.Order, _ download: inout Download) {
    if order.order.takesFiles { forgetBytes(of: &download, removesNames: false) }
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

  mutating func answerReaders(of download: inout Download) {
    for index in download.readers.indices {
      if download.readers[index].isOpening { answerOpen(index, &download) }
      answerWaits(index, &download)
    }
  }

  private mutating func answerOpen(_ index: Int, _ download: inout Download) {
    let reader = download.readers[index]
    if reader.intent == .download && reader.generation == nil {
      let isSizeKnown = download.record.total != nil || download.hasNoLength
      if !isSizeKnown || download.openFiles?.undescribed != 0 || awaitsConfirmation(reader, download) {
        let cancelled =
          download.state == .remote ? TransferFailure.lasting("the download was cancelled") : nil
        guard let failure = failure(of: download, since: reader.begun) ?? cancelled else { return }
        download.readers[index].isOpening = false
        return answer(reader.name, failure)
      }
    }
    // What is stored may be on its way to be opened.
    if download.files == nil || download.openFiles != nil { sendOpened(index, &download) }
  }

  /// A reader that reads what came before keeps its generation.
  mutating func sendOpened(_ index: Int, _ download: inout Download) {
    let current = download.openFiles == nil ? nil : download.record.generation
    download.readers[index].isOpening = false
    download.readers[index].generation = download.readers[index].generation ?? current
    answer(download.readers[index].name, generation: download.readers[index].generation ?? 0)
  }

  /// Whether to wait a little for the server's word that what is stored is still its file.
  private mutating func awaitsConfirmation(_ reader: Reader, _ download: Download) -> Bool {
    return download.isWanted && !download.isConfirmed && download.openFiles?.isComplete == false
      && download.retry.until == nil && !isPast(reader.begun.adding(5), for: download.key)
  }

  private mutating func answerWaits(_ index: Int, _ download: inout Download) {
    let reader = download.readers[index]
    let isGone = reader.generation != nil && download.files == nil && download.content == .nothing
    let isStale = reader.generation ?? download.record.generation != download.record.generation
    for wait in reader.waits {
      let isHere = !isGone && !isStale && download.openFiles?.shows(wait.range) == true
      let failure: TransferFailure? =
        isHere ? nil : isGone ? .gone : isStale ? .changed : failure(of: download, since: wait.begun)
      if !isHere && failure == nil { continue }
      answer(ClientNumber(client: reader.name.client, id: wait.id), failure)
      download.readers[index].waits.removeAll { $0.id == wait.id }
    }
  }

  /// Why a reader has nothing to wait for. A refusal counts since `begun`, or if it is recent: the disk had no room,
  /// or nothing is here and the host could not be reached or sent no audio.
  private func failure(of download: Download, since begun: Instant) -> TransferFailure? {
    let retry = download.retry
    if download.record.request.url.isEmpty && download.content == .nothing { return .gone }
    if download.demand == .failed && download.content != .whole {
      return .lasting(download.record.error ?? "failed")
    }
    if download.fetches.isEmpty, download.mayFetch, let end = retry.forbiddenUntil,
      end > now.instant.adding(Double(settings.readTimeout) / 1000)
    {
      return .lasting(download.record.error ?? "\(download.source.named) asks to be left alone")
    }
    guard let refusal = retry.refusal, download.received == 0 || retry.lacksRoom else { return nil }
    return refusal.at >= begun || retry.isRefusing(now.instant) ? refusal.failure : nil
  }
}
