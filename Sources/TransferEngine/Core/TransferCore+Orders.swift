internal import PodcastModel
internal import TransferProtocol

// What clients ask for.
extension TransferCore {
  /// A client has gone: its readers are gone, its downloads go on.
  mutating func leave(_ client: ClientID) {
    clients[client] = nil
    for name in handles.keys.filter({ $0.client == client }).sorted(by: { $0.id < $1.id }) { close(name) }
    log.leave(client)
  }

  mutating func perform(_ message: ClientMessage, of client: ClientID) {
    guard clients[client] != nil else { return }
    func order(_ id: UInt64, _ key: MediaKey, _ command: CommandLog.Command) {
      lastOrder += 1
      log.append(.init(name: OrderName(client: client, id: id), key: key, command: command, place: lastOrder))
    }
    switch message {
    // The daemon's business.
    case .hello: break
    case .settings(let settings): use(settings)
    case .open(let id, let request, let intent, let generation):
      open(HandleName(client: client, id: id), request, intent, generation)
    case .close(let id): close(HandleName(client: client, id: id))
    case .wait(let id, let open, let offset, let count):
      wait(id, HandleName(client: client, id: open), offset, count)
    case .endWait(let id): endWait(id, client)
    case .start(let id, let request): order(id, request.key, .start(request))
    case .pause(let id, let request): order(id, request.key, .pause(request))
    case .setKept(let id, let request, let kept): order(id, request.key, .keep(request, kept))
    case .leave(let id, let key): order(id, key, .leave)
    case .drop(let id, let key):
      let isToldByFiles = log.overtake(key)
      var row: TransferRecord?
      change(key) { core, download in
        row = download.told.row
        core.drop(&download)
      }
      let isWanted = row.map { $0.state != .cached && $0.state != .remote } ?? false
      order(id, key, .drop(isToldByFiles: isToldByFiles && !isWanted))
    case .forget(let id, let key):
      _ = log.overtake(key)
      change(key) { core, download in core.drop(&download, forgets: true) }
      order(id, key, .drop(isToldByFiles: false))
    case .freshAddress(let key, let url): heardAddress(key, url)
    case .damaged(let id, let key, let generation, let ranges):
      discard(ranges, of: key, generation, for: id == 0 ? nil : OrderName(client: client, id: id))
    }
  }

  private mutating func use(_ new: TransferSettings) {
    var new = new
    new.queued = new.queued ?? settings.queued
    if new == settings { return }
    if new.minimumFree != settings.minimumFree || new.queued != settings.queued { roomHasChanged() }
    settings = new
    throttle.set(rate: new.limitRate, at: now.instant)
    letGoOfThrottled()
    emit(.saveSettings(new))
    for key in downloads.active.keys.sorted() where downloads.active[key]?.isWanted == true { touch(key) }
  }

  private mutating func open(
    _ name: HandleName, _ request: TransferRequest, _ intent: OpenIntent, _ generation: UInt32?
  ) {
    let isRepeated = handles[name] != nil
    close(name)
    handles[name] = request.key
    lastOrder += 1
    change(request) { [lastOrder] core, download in
      download.readers.append(Reader(name, intent, generation: generation, begun: core.now.instant))
      let now = core.now.instant
      // One that is said again, to a new daemon, wants no more than the store says.
      if intent == .download && generation == nil {
        download.want(by: name.client, place: lastOrder, at: now)
      }
      // What is fetched only as it is read is tried again after it has failed, as a download is.
      if intent == .fetchOnly, download.demand == .failed, !download.retry.isEarly(now),
        !download.retry.isForbidden(now)
      {
        download.withdraw()
        download.record.forgive()
      }
      download.retry.hurry(at: now)
    }
    // The client could not open what it was told of: somebody may have deleted that.
    if isRepeated { lookForVanished([request.key]) }
  }

  private mutating func close(_ name: HandleName) {
    change(handles.removeValue(forKey: name)) { core, download in
      download.readers.removeAll { $0.name == name }
      if download.isForgotten && download.readers.isEmpty { core.drop(&download) }
    }
  }

  private mutating func wait(_ id: UInt64, _ name: HandleName, _ offset: Int64, _ count: Int64) {
    guard let key = handles[name], offset >= 0, count >= 0 else {
      return reply(.unavailable(wait: id, .notOpen), to: name.client)
    }
    // No file reaches further: windows behind an offset must not overflow.
    let start = min(offset, Limits.largestFile)
    let range = start..<start + min(count, Limits.largestFile)
    let number = nextNumber()
    lastOrder += 1
    change(key) { [lastOrder] core, download in
      guard let index = download.readers.firstIndex(where: { $0.name == name }) else { return }
      let wait = Reader.Wait(id: id, range: range, number: number, begun: core.now.instant)
      download.readers[index].waits.removeAll { $0.id == id }
      download.readers[index].waits.append(wait)
      if download.readers[index].intent == .downloadAtRead, !download.readers[index].hasRead,
        !download.isForgotten
      {
        download.readers[index].hasRead = true
        download.want(by: name.client, place: lastOrder, at: core.now.instant)
      }
      download.focus = start
      download.retry.hurry(at: core.now.instant)
    }
  }

  private mutating func endWait(_ id: UInt64, _ client: ClientID) {
    for key in Set(handles.filter { $0.key.client == client }.values).sorted() {
      change(key, isQuiet: true) { core, download in
        for index in download.readers.indices where download.readers[index].name.client == client {
          guard let wait = download.readers[index].waits.firstIndex(where: { $0.id == id }) else { continue }
          download.readers[index].waits.remove(at: wait)
          core.touch(&download)
        }
      }
    }
  }

  /// An order is on the disk: it acts.
  mutating func obey(_ order: CommandLog.Order, _ download: inout Download) {
    let hadSlot = download.isBackground && download.slot == .granted
    if case .start = order.command {
      // Deleted: who has it open keeps what there is, others begin anew.
      if download.openFiles?.isLinked == false { forgetBytes(of: &download) }
      if hosts.hurry(download.source.named, at: now.instant) { reconsider() }
    }
    download.obey(order, at: now.instant)
    if hadSlot && !download.isWanted { beginQuiet() }
  }

  private mutating func beginQuiet() { timers.add(.queue, at: scheduler.beginQuiet(at: now.instant)) }

  /// Cancels a download and drops its bytes, once the disk has taken their names away: what cannot be removed stays as
  /// it was. That is done before the order is committed, because it makes room for it.
  private mutating func drop(_ download: inout Download, forgets: Bool = false) {
    if download.content == .nothing { return dropped(&download, forgets: forgets) }
    removeFiles(of: &download)
    log.drops(download.key, forgets: forgets, at: now.instant)
  }

  private mutating func dropped(_ download: inout Download, forgets: Bool) {
    if download.isBackground && download.slot == .granted { beginQuiet() }
    forgetBytes(of: &download, removesNames: false)
    download.withdraw()
    download.record.forgive()
    if forgets { download.record = download.record.forgotten }
  }

  mutating func removed(_ key: MediaKey, _ failure: TransferFailure?) {
    guard let removal = log.removed(key), let since = removal.dropped else { return }
    if let failure {
      for order in log.refuseDrops(of: key) where order.id != 0 {
        reply(.refused(id: order.id, failure), to: order.client)
      }
      return touch(key)
    }
    lastOrder += 1
    change(key) { [lastOrder] core, download in
      let request = download.record.request
      core.dropped(&download, forgets: removal.forgets)
      // Who has opened it since the order has it come again.
      let later = download.readers.filter { $0.begun >= since }
      if !later.isEmpty { download.take(request) }
      if let reader = later.first(where: \.mayDownload) {
        download.want(by: reader.name.client, place: lastOrder, at: core.now.instant)
      }
    }
  }
}
