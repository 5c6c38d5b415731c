internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

// What clients ask for.
extension Engine {
  func add(_ client: any EngineClient) { clients[ObjectIdentifier(client)] = client }

  /// A client has gone: its readers are gone, its downloads go on.
  func remove(_ client: any EngineClient) {
    let id = ObjectIdentifier(client)
    clients[id] = nil
    for name in handles.keys where name.client == id { close(name) }
  }

  /// Tells all that is known.
  func sendSnapshot(to client: any EngineClient) {
    // Few to a message, so that none is too long (`FrameWriter.longest`).
    var batch: [TransferStatus] = []
    for download in downloads.all.values {
      batch.append(download.status)
      if batch.count == 16 {
        client.send(.changed(batch))
        batch = []
      }
    }
    if !batch.isEmpty { client.send(.changed(batch)) }
    client.send(.snapshotEnd)
  }

  func perform(_ message: ClientMessage, of client: any EngineClient) {
    let owner = ObjectIdentifier(client)
    switch message {
    case .hello: break
    case .settings(let settings): use(settings)
    case .open(let id, let request, let intent, let generation):
      open(HandleName(client: owner, id: id), request, intent, generation)
    case .close(let id): close(HandleName(client: owner, id: id))
    case .wait(let id, let open, let offset, let count):
      wait(id, HandleName(client: owner, id: open), offset, count)
    case .endWait(let id): endWait(id, owner)
    case .start(let id, let request):
      let download = known(request)
      want(download, isExplicit: true)
      confirm(id, client)
    case .pause(let id, let request):
      pause(known(request))
      confirm(id, client)
    case .drop(let id, let key):
      if let download = downloads[key] { drop(download) }
      confirm(id, client)
    case .setKept(let id, let request, let kept):
      let download = known(request)
      download.record.isKept = kept
      touch(download)
      confirm(id, client)
    case .freshAddress(let key, let url): heardAddress(key, url)
    }
  }

  /// The download of a request, with the facts as the client knows them now.
  private func known(_ request: TransferRequest) -> Download {
    if let download = downloads[request.key] {
      if download.record.request.url != request.url {
        download.isDirectRefused = true
        // It is what was looked for.
        download.askedAddress = nil
      }
      download.record.request = request
      return download
    }
    let download = Download(record: TransferRecord(request: request))
    downloads.insert(download)
    return download
  }

  /// Says `done` once what was ordered before is remembered.
  private func confirm(_ id: UInt64, _ client: any EngineClient) {
    if id == 0 { return }
    let owner = ObjectIdentifier(client)
    // After `settle`, which gives the records to the disk.
    loop.async {
      self.disk.afterAll {
        self.loop.async { self.reply(.done(id: id), to: owner) }
      }
    }
  }

  private func open(
    _ name: HandleName, _ request: TransferRequest, _ intent: OpenIntent, _ generation: UInt32?
  ) {
    close(name)
    let download = known(request)
    let handle = ReaderHandle(id: name.id, client: name.client, intent: intent, generation: generation)
    handles[name] = (handle, download)
    download.handles.append(handle)
    // One that is said again, to a new daemon, wants no more than the store says, unless that had not heard of it.
    let isNews = generation == nil || download.record.order == 0
    if intent == .download && isNews { want(download, isExplicit: false) }
    if intent == .fetchOnly { forgive(download) }
    hurry(download)
    touch(download)
  }

  private func close(_ name: HandleName) {
    guard let (handle, download) = handles.removeValue(forKey: name) else { return }
    download.handles.removeAll { $0 === handle }
    touch(download)
  }

  private func wait(
    _ id: UInt64, _ name: HandleName, _ offset: Int64, _ count: Int64
  ) {
    guard let (handle, download) = handles[name], offset >= 0, count >= 0 else {
      return reply(.unavailable(wait: id, TransferFailure(.EBADF, "not open")), to: name.client)
    }
    handle.waits[id] = offset..<offset + min(count, .max - offset)
    if handle.intent == .downloadAtRead && !handle.hasRead {
      handle.hasRead = true
      want(download, isExplicit: false)
    }
    download.focus = offset
    hurry(download)
    touch(download, queue: false)
  }

  private func endWait(_ id: UInt64, _ owner: ObjectIdentifier) {
    for (name, entry) in handles where name.client == owner {
      guard entry.handle.waits.removeValue(forKey: id) != nil else { continue }
      touch(entry.download, queue: false)
      return
    }
  }

  /// Makes all of it come. What failed is tried again: at once where `isExplicit`, else not within ten
  /// seconds, and never before the server's Retry-After.
  private func want(_ download: Download, isExplicit: Bool) {
    // Deleted a moment ago.
    if download.record.state == .cached, !layout.hasData(download.key, download.record.generation) {
      forgetBytes(of: download)
    }
    switch download.record.state {
    case .cached, .queued, .downloading: break
    case .failed:
      let isEarly = download.lastFault.map { .now < $0.adding(10) } ?? false
      if !isExplicit && (isEarly || download.isForbidden) { return }
      queue(download)
    case .remote, .paused: queue(download)
    }
    if isExplicit {
      hurry(download)
      if hosts.end(download.host) { reconsider() }
    }
    touch(download)
  }

  /// What is fetched only as it is read is tried again after it has failed, as a download is.
  private func forgive(_ download: Download) {
    let isEarly = download.lastFault.map { .now < $0.adding(10) } ?? false
    guard download.record.state == .failed, !isEarly, !download.isForbidden else { return }
    download.record.state = .remote
    download.record.error = nil
    download.record.failed = nil
    download.hasAskedForAddress = false
  }

  private func queue(_ download: Download) {
    if download.record.order == 0 || download.record.state == .remote {
      lastOrder += 1
      download.record.order = lastOrder
    }
    download.retryAt = download.forbiddenUntil
    download.record.state = .queued
    download.record.error = nil
    download.record.failed = nil
    download.attempts = 0
    download.generationsBegun = 0
    download.fruitlessAsks = 0
    download.hasAskedForAddress = false
    // The server may have learnt.
    download.givesRanges = true
    download.strayParts = 0
    download.isDirectRefused = false
  }

  /// A reader has come: a try that was to be made later is made now, unless it has just been made or the
  /// server wants to be left alone.
  private func hurry(_ download: Download) {
    guard download.retryAt != nil, !download.isForbidden else { return }
    if let last = download.lastFault, MonotonicTime.now < last.adding(1) { return }
    download.retryAt = nil
  }

  private func pause(_ download: Download) {
    switch download.record.state {
    case .remote, .queued, .downloading, .failed, .paused:
      endFlows(of: download)
      download.askedAddress = nil
      download.record.state = .paused
      download.record.error = nil
      download.record.failed = nil
    case .cached: break
    }
    touch(download)
  }

  /// Cancels and drops the bytes.
  private func drop(_ download: Download) {
    download.record.state = .remote
    download.askedAddress = nil
    download.record.error = nil
    download.record.failed = nil
    forgetBytes(of: download)
    download.retryAt = nil
    touch(download)
  }
}
