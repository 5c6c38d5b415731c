internal import EpisodeCache
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

// What runs.
extension Engine {
  /// Which of the wanted downloads may run in the background: those that run already, then by order, as
  /// `downloads`, `per_host` and the room allow.
  func assignSlots() {
    var candidates = downloads.busy.values.filter(\.isBackground)
    candidates.sort { a, b in
      if a.flows.isEmpty != b.flows.isEmpty { return !a.flows.isEmpty }
      return (a.record.order, a.key) < (b.record.order, b.key)
    }
    var used: [String: Int64] = [:]
    var chosen: [Download] = []
    let now = MonotonicTime.now
    for download in candidates where chosen.count < settings.downloads {
      let isReady = download.retryAt.map { $0 <= now } ?? true
      let isLeftAlone = download.flows.isEmpty && hosts.isResting(download.host)
      guard isReady, !isLeftAlone, used[download.host, default: 0] < settings.perHost else { continue }
      used[download.host, default: 0] += 1
      chosen.append(download)
    }
    let admitted = withRoom(chosen)
    let waiting = Set(chosen.map(\.key)).subtracting(admitted)
    for download in candidates {
      let may = admitted.contains(download.key)
      let isFull = waiting.contains(download.key)
      if isFull != (download.record.error == Self.cacheIsFull) {
        download.record.error = isFull ? Self.cacheIsFull : nil
        touch(download)
      }
      if may != download.hasSlot {
        download.hasSlot = may
        touch(download)
      }
    }
  }

  /// `limit_rate` is for the background: what a reader has open is not held back.
  func setRateLimits() {
    for download in downloads.busy.values {
      for (flow, task) in download.flows where flow.isThrottled != download.isBackground {
        flow.isThrottled = download.isBackground
        task.resume()
      }
    }
  }

  func use(_ new: TransferSettings) {
    if new == settings { return }
    let isOtherRate = new.limitRate != settings.limitRate
    settings = new
    throttle.set(rate: new.limitRate)
    // What was held back by the old rate goes on by the new one.
    if isOtherRate {
      for (_, task) in downloads.busy.values.flatMap(\.flows) { task.resume() }
    }
    disk.save(new)
    for download in downloads.busy.values where download.isWanted { touch(download) }
  }

  /// Does what `download` needs by now: the one place where responses are asked for and given up.
  func update(_ download: Download) {
    if download.flows.isEmpty { download.refusesBeside = false }
    prepareWriter(of: download)
    completeIfWhole(download)
    answerReaders(of: download)
    let isDue = wakeWhenDue(download)
    var waits = download.fetchableWaits
    if let index = download.indexRange, download.isOpenForDownload { waits.append(index) }
    let wantsWhole = download.isWanted && (download.isOpenForDownload || download.hasSlot)
    if !wantsWhole && waits.isEmpty && !download.readsThrough || download.isAskingForAddress {
      endFlows(of: download)
    } else if isDue && !download.isStoreRefused && hasRoom(for: download) {
      ask(download, waits, wantsWhole: wantsWhole)
    }
    if download.isWanted {
      download.record.state = download.flows.isEmpty ? .queued : .downloading
    }
    if download.flows.isEmpty {
      download.meter.stop()
      download.isConfirmed = false
    }
    setWanted(download)
    releaseWriter(of: download)
  }

  /// Whether it may be tried now; if not, it is looked at again when it may.
  private func wakeWhenDue(_ download: Download) -> Bool {
    if let timer = download.retryTimer { loop.cancel(timer) }
    download.retryTimer = nil
    guard let retryAt = download.retryAt else { return true }
    if retryAt <= .now {
      download.retryAt = nil
      return true
    }
    download.retryTimer = loop.schedule(at: retryAt) {
      download.retryTimer = nil
      self.touch(download)
    }
    return false
  }

  private func ask(_ download: Download, _ waits: [Range<Int64>], wantsWhole: Bool) {
    let representation = download.writer?.representation
    // Before the first head nothing is known that a second request could be checked against.
    if representation == nil && !download.flows.isEmpty { return }
    // Before what is there is looked at: what comes meanwhile must not look like a hole that nothing brings.
    let running = download.flows.map {
      RequestPlanner.Running(
        position: $0.flow.position, end: $0.flow.request.end, rate: $0.flow.rate)
    }
    let planner = RequestPlanner(
      have: download.writer?.present ?? ByteRanges(), total: representation?.total,
      running: running, canSeek: download.canSeek, wantsWhole: wantsWhole, focus: download.focus)
    let requests = planner.requests(for: waits)
    if requests.isEmpty || !mayAskAtOnce(requests, download) { return }
    for request in requests { start(request, for: download) }
  }

  /// Bytes that are progress; a few each time are none, unless no more were asked for.
  static let progress: Int64 = 65_536

  /// Whether other requests may follow at once on those before; not without end: a server that never gives
  /// anything of use is left alone for longer and longer.
  private func mayAskAtOnce(_ requests: [RequestPlanner.Request], _ download: Download) -> Bool {
    guard download.flows.isEmpty else { return true }
    let last = download.lastAsk
    let end = download.writer?.representation.total
    let size = requests.reduce(0) { size, request in
      size + ((request.end ?? end).map { $0 - request.start } ?? Self.progress)
    }
    download.lastAsk = (download.received, download.record.generation, min(size, Self.progress))
    if download.received >= last.received + last.size && last.size > 0 {
      // Of the same file: the server does not give another one each time.
      if download.record.generation == last.generation { download.generationsBegun = 0 }
      if download.generationsBegun < 4 { download.fruitlessAsks = 0 }
    }
    download.fruitlessAsks += 1
    if download.fruitlessAsks <= 5 { return true }
    suffer(Fault(.passing, "\(download.host) sends nothing of use"), download)
    // When that time has come, one is enough to see whether anything has changed.
    download.fruitlessAsks = 4
    return false
  }

  private func start(_ planned: RequestPlanner.Request, for download: Download) {
    var planned = planned
    let representation = download.writer?.representation
    if download.beginsAnew || !download.givesRanges {
      planned.start = 0
      planned.end = nil
    } else if let representation, planned.start > 0,
      representation.validator == nil || download.needsOverlap
    {
      let run = download.writer?.present.run(at: planned.start - 1)
      let back = ResponseJudge.overlap
      if let run, run.upperBound == planned.start, run.count >= back {
        planned.start -= back
      } else {
        planned.start = 0
        planned.end = nil
      }
    }
    // Straight to where the redirects led, while that is fresh: one round trip.
    let isDirect =
      planned.start > 0 && download.isAddressFresh && !download.isDirectRefused && representation != nil
      && representation?.finalURL != download.record.request.url
    var request = HTTPRequest(
      url: isDirect ? representation?.finalURL ?? "" : download.record.request.url)
    if planned.start > 0 || planned.end != nil {
      let last = planned.end.map { String($0 - 1) } ?? ""
      request.headers.append(("Range", "bytes=\(planned.start)-\(last)"))
      if let validator = representation?.validator { request.headers.append(("If-Range", validator)) }
    }
    configure(&request, for: download)
    let key = download.key
    let flow = Flow(planned, isDirect: isDirect, throttle: throttle) { [weak self] flow, event in
      self?.loop.async { [weak self] in self?.heard(event, of: flow, key) }
    }
    flow.isThrottled = download.isBackground
    let task = http.start(request, receiver: flow)
    download.flows.append((flow, task))
  }

  private func configure(_ request: inout HTTPRequest, for download: Download) {
    request.userAgent = download.record.request.userAgent ?? settings.userAgent
    request.proxy = settings.proxy
    request.proxyVariables = settings.proxyVariables
    request.acceptsCompression = download.decodes
    request.allowsPrivateHosts = download.record.request.allowsPrivateHosts
    request.connectTimeout = Double(settings.connectTimeout) / 1000
    request.stallTimeout = Double(settings.stallTimeout) / 1000
    request.certificateAuthorities = settings.certificateAuthorities
  }

  func endFlows(of download: Download) {
    for (flow, task) in download.flows { end(flow, task) }
    download.flows = []
  }

  /// Gives up one response.
  func endFlow(_ flow: Flow, of download: Download) {
    guard let index = download.flows.firstIndex(where: { $0.flow === flow }) else { return }
    end(flow, download.flows.remove(at: index).task)
  }

  private func end(_ flow: Flow, _ task: HTTPTask) {
    flow.close()
    task.cancel()
  }

  /// All is here.
  private func completeIfWhole(_ download: Download) {
    guard let writer = download.writer, writer.isComplete, download.record.state != .cached else { return }
    endFlows(of: download)
    guard writer.isLinked else {
      // Its readers have it all; nobody else can.
      if download.isWanted { download.record.state = .remote }
      return
    }
    // Also of what nobody wanted whole, or was paused: there is nothing left to wait for.
    download.record.state = .cached
    download.record.error = nil
    download.record.failed = nil
    download.record.notBefore = nil
    download.forbiddenUntil = nil
    download.record.total = writer.representation.total
    download.record.received = writer.received
    download.attempts = 0
    download.needsSynchronization = true
    trim()
  }
}
