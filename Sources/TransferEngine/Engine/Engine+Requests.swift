internal import PodcastModel
internal import TransferProtocol

// What is asked for.
extension Engine {
  func ask(_ download: Download, _ waits: [Range<Int64>], wantsWhole: Bool) {
    let store = download.openStore
    if store == nil {
      // Before the first head nothing is known that a second request could be checked against.
      if !download.flows.isEmpty { return }
      // What is stored decides what to ask for.
      if download.store != nil { return }
    }
    let open = waits.filter { store?.shows($0) != true }
    var planner = planner(for: download, wantsWhole: wantsWhole)
    if makeRoom(for: planner.surplus(of: open), in: download) {
      planner = self.planner(for: download, wantsWhole: wantsWhole)
    }
    let requests = planner.requests(for: open)
    // By then it is known how slow the host is.
    if requests.isEmpty && !open.isEmpty, planner.running.contains(where: { $0.rate == nil }) {
      timers.add(.download(download.key), at: now.instant.adding(RequestPlanner.playersPatience))
    }
    if requests.isEmpty || awaitsTail(download) || !mayAskAtOnce(requests, download) { return }
    for request in requests { start(request, for: download) }
    if store == nil { askForTail(of: download) }
  }

  private func planner(for download: Download, wantsWhole: Bool) -> RequestPlanner {
    let running = download.flows.map { flow in
      RequestPlanner.Running(
        position: flow.position, arrived: flow.arrived, end: flow.request.end,
        rate: flow.rateSoFar(now.instant))
    }
    let store = download.openStore
    return RequestPlanner(
      have: store?.claimed ?? ByteRanges(), total: store?.representation.total,
      running: running, canSeek: download.canSeek, wantsWhole: wantsWhole, focus: download.focus)
  }

  /// Ends responses that were begun for somebody who waits for something else by now, and has for a moment: he may read
  /// on, and hosts are not to be asked with each read.
  /// - Parameter count: responses that are lacking.
  /// - Returns: whether any was.
  private func makeRoom(for count: Int, in download: Download) -> Bool {
    if count == 0 { return false }
    let idle = download.flows.filter { flow in
      flow.request.end != nil && !flow.isTail && flow.intake != nil && flow.idleSince != nil
    }
    let due = idle.filter { $0.idleSince.map { $0.adding(Self.leisure) <= now.instant } ?? false }
    if due.count < count,
      let next = idle.compactMap(\.idleSince).filter({ $0.adding(Self.leisure) > now.instant }).min()
    {
      timers.add(.download(download.key), at: next.adding(Self.leisure))
    }
    for flow in due.prefix(count) {
      // What it has brought is kept.
      write(flow, download, .all)
      endFlow(flow, of: download)
    }
    return !due.isEmpty
  }

  /// Seconds.
  private static let leisure = 0.25

  /// Bytes that are progress; a few each time are none, unless no more were asked for.
  static let progress: Int64 = 65_536

  /// Whether other requests may follow at once on those before; not without end: a server that never gives
  /// anything of use is left alone for longer and longer.
  private func mayAskAtOnce(_ requests: [RequestPlanner.Request], _ download: Download) -> Bool {
    guard download.flows.isEmpty else { return true }
    let last = download.lastAsk
    let end = download.openStore?.representation.total
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
    let store = download.openStore
    let representation = store?.representation
    if download.beginsAnew || !download.givesRanges {
      planned.start = 0
      planned.end = nil
    } else if let store, planned.start > 0, store.representation.validator == nil || download.needsOverlap {
      let run = store.present.run(at: planned.start - 1)
      let back = ResponseJudge.overlap
      if let run, run.upperBound == planned.start, run.length >= back {
        planned.start -= back
      } else {
        planned.start = 0
        planned.end = nil
      }
    }
    let isDirect =
      planned.start > 0 && representation != nil && isAddressFresh(download)
      && !download.isDirectRefused && representation?.finalURL != download.record.request.url
    var request = mediaRequest(of: download)
    if isDirect { request.url = representation?.finalURL ?? "" }
    if planned.start > 0 || planned.end != nil {
      request.range = RequestedRange(start: planned.start, end: planned.end)
      request.validator = representation?.validator
    }
    // Leave to reach private hosts has ended on the way to a public one, and does not begin there again.
    request.allowsPrivateHosts = request.allowsPrivateHosts && (!isDirect || download.isSenderPrivate)
    let flow = Flow(FlowID(nextNumber()), planned, isDirect: isDirect, asked: now.instant)
    flows[flow.id] = (flow, download)
    download.flows.append(flow)
    emit(.ask(flow.id, request))
  }

  /// For the whole, by the feed's own address.
  func mediaRequest(of download: Download) -> MediaRequest {
    var request = MediaRequest(url: download.record.request.url, settings: settings)
    request.userAgent = download.record.request.userAgent ?? settings.userAgent
    request.acceptsCompression = download.decodes
    request.allowsPrivateHosts = download.record.request.allowsPrivateHosts
    return request
  }

  /// Whether the final address may be asked without the redirects before it: they often expire. One round trip.
  private func isAddressFresh(_ download: Download) -> Bool {
    download.addressAnswered.map { now.instant < $0.adding(300) } ?? false
  }

  /// Gives up all responses; what they have brought is kept.
  func endFlows(of download: Download) {
    dropTail(of: download)
    for flow in download.flows { endFlow(flow, of: download) }
  }

  /// Gives up one response. What it has brought on a slow disk, before there were files for that, waits for those.
  func endFlow(_ flow: Flow, of download: Download) {
    if flow.awaitsFiles && flows[flow.id] != nil {
      if !flow.isStopped { emit(.stop(flow.id)) }
      flow.isStopped = true
      return
    }
    guard flows.removeValue(forKey: flow.id) != nil else { return }
    if flow.intake?.agreeing ?? 1 <= 0 { write(flow, download, .all) }
    download.flows.removeAll { $0 === flow }
    emit(.end(flow.id))
  }

  /// Takes nothing more from its host for a while.
  func hold(_ flow: Flow, _ why: Flow.Hold) {
    if flow.holds.isEmpty { emit(.hold(flow.id)) }
    flow.holds.insert(why)
  }

  func unhold(_ flow: Flow, _ why: Flow.Hold) {
    guard flow.holds.remove(why) != nil, flow.holds.isEmpty, flows[flow.id] != nil else { return }
    emit(.goOn(flow.id))
  }
}
