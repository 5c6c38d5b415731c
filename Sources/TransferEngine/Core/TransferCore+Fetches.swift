internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension TransferCore {
  mutating func ask(_ download: inout Download, _ waits: [Range<Int64>]) {
    // What is stored decides what to ask for. Before the first head a second request could not be checked.
    let isKnown = download.content == .nothing && download.files == nil && download.fetches.isEmpty
    if download.openFiles == nil && !isKnown { return }
    // An answer that is being compared tells by which validator to ask.
    if download.fetches.contains(where: { $0.claim != nil }) { return }
    let open = waits.filter { download.openFiles?.shows($0) != true }
    if planner(for: download).isCrowded(by: open) { makeWay(in: &download) }
    var requests = planner(for: download).requests(for: open)
    // A host that has failed gets one request until it answers.
    if download.retry.attempts > 0 && !download.isConfirmed {
      requests = download.fetches.isEmpty ? Array(requests.prefix(1)) : []
    }
    // By then it is known how slow the host is.
    if requests.isEmpty && !open.isEmpty && download.fetches.contains(where: { $0.rate(now.instant) == nil })
    {
      timers.add(.download(download.key), at: now.instant.adding(RequestPlanner.patience))
    }
    if requests.isEmpty || awaitsTail(download) || !mayAsk(requests, &download) { return }
    for request in requests { start(request, for: &download) }
    if download.openFiles == nil { askForTail(of: &download) }
  }

  private func planner(for download: Download) -> RequestPlanner {
    let running = download.fetches.map {
      RequestPlanner.Running(
        position: $0.intake.position, arrived: $0.intake.arrived, end: $0.request.upperBound,
        rate: $0.rate(now.instant))
    }
    return RequestPlanner(
      have: download.openFiles?.claimed ?? ByteRanges(), total: download.openFiles?.representation.total,
      running: running, canSeek: download.canSeek, wantsWhole: download.isRunnable, focus: download.focus)
  }

  /// Ends responses that were begun for readers who wait for something else by now.
  private mutating func makeWay(in download: inout Download) {
    let awaited = awaited(in: download)
    for fetch in download.fetches
    where fetch.request.upperBound < .max && fetch.isFeeding && !awaited.contains(fetch.id) {
      endFetch(fetch.id, of: &download)
      touch(&download)
    }
  }

  private func awaited(in download: Download) -> Set<FlowID> {
    let planner = planner(for: download)
    let waits = download.fetchableWaits.filter { download.openFiles?.shows($0) != true }
    return Set(
      waits.compactMap { wait in
        let first = planner.hole(of: wait)?.lowerBound ?? wait.lowerBound
        return download.fetches.filter { $0.intake.position <= first && first < $0.request.upperBound }
          .max { $0.intake.position < $1.intake.position }?.id
      })
  }

  /// Whether `fetch` waits while another response brings what a reader waits for: both share one link. A response that is
  /// being compared needs the bytes of the others.
  private func givesWay(_ fetch: Fetch, _ download: Download) -> Bool {
    if download.fetches.count < 2 || fetch.isTail || download.fetches.contains(where: { $0.claim != nil }) {
      return false
    }
    let awaited = awaited(in: download)
    return !awaited.isEmpty && !awaited.contains(fetch.id)
  }

  /// Whether another request may follow at once. A server that never gives anything of use is left alone.
  private mutating func mayAsk(_ requests: [Range<Int64>], _ download: inout Download) -> Bool {
    if !download.fetches.isEmpty { return true }
    let end = download.openFiles?.representation.total ?? .max
    let size = requests.reduce(0) { $0 + min(min($1.upperBound, end) - $1.lowerBound, Retry.progress) }
    if download.retry.mayAskAtOnce(received: download.received, of: download.record.generation, size: size) {
      return true
    }
    download.ranges = .whole
    handle(Fault(.passing, "\(download.source.named) sends nothing usable"), of: &download)
    download.retry.leaveOneTry()
    return false
  }

  private mutating func start(
    _ planned: Range<Int64>, for download: inout Download, isTail: Bool = false
  ) {
    let whole = 0..<Int64.max
    var planned = planned
    let representation = download.openFiles?.representation
    if download.beginsAnew || download.ranges == .whole {
      planned = whole
    } else if let open = download.openFiles, planned.lowerBound > 0,
      open.representation.validator == nil || download.ranges == .overlap
    {
      let run = open.present.run(at: planned.lowerBound - 1)
      let isEnough = run?.upperBound == planned.lowerBound && run?.length ?? 0 >= ResponseJudge.overlap
      planned = isEnough ? planned.lowerBound - ResponseJudge.overlap..<planned.upperBound : whole
    }
    // For five minutes, requests go to the address that redirects led to. Later it may have expired.
    let (asked, source) = (download.record.request, download.source)
    let isFresh = source.answered.map { now.instant < $0.adding(300) } ?? false
    let direct = planned.lowerBound > 0 && isFresh ? representation?.finalURL : nil
    let isDirect = direct != nil && direct != asked.url
    var request = MediaRequest(url: direct ?? asked.url, settings: settings)
    request.userAgent = asked.userAgent ?? settings.userAgent
    // Leave to reach private hosts has ended on the way to a public one, and does not begin there again.
    request.allowsPrivateHosts = asked.allowsPrivateHosts && (!isDirect || source.isPrivate)
    if planned != whole { (request.range, request.validator) = (planned, representation?.validator) }
    let fetch = Fetch(
      id: FlowID(nextNumber()), request: planned, isDirect: isDirect, isTail: isTail, asked: now.instant,
      intake: Intake(at: planned.lowerBound, mayStop: false))
    fetches[fetch.id] = download.key
    download.fetches.append(fetch)
    if !space.isFresh(at: now.instant) { measureRoom() }
    emit(.ask(fetch.id, request))
  }

  /// - Parameter losing: whether also what they hold is lost: the disk takes nothing, or nobody wants it.
  mutating func endFetches(of download: inout Download, losing: Bool = false) {
    for fetch in download.fetches { endFetch(fetch.id, of: &download, losing: losing) }
  }

  /// Gives up one fetch. What it holds goes to the disk first, unless that is lost.
  mutating func endFetch(_ id: FlowID, of download: inout Download, losing: Bool = false) {
    guard let fetch = download[id] else { return }
    if !losing && fetch.isConfirmed { write(id, &download, .all) }
    download[id] = nil
    fetches[id] = nil
    emit(.end(id))
    // Nobody knows what the end is of without the beginning.
    if download.files == nil && download.fetches.allSatisfy(\.isTail) {
      endFetches(of: &download, losing: true)
    }
  }

  /// Asks for the last block of what somebody opens, where nothing of it is here and its host is known to give parts:
  /// players look at it before they play. Its connection is free by the time that the first head is here: a seek then
  /// needs no new one, nor does the next episode.
  private mutating func askForTail(of download: inout Download) {
    guard download.fetches.count == 1, !download.beginsAnew, download.ranges == .trusted,
      download.retry.failed == nil, hosts.givesParts(download.source.named),
      let length = download.record.total ?? download.record.request.expectedLength,
      length >= RequestPlanner.nearby, length <= Limits.largestFile,
      download.readers.contains(where: { $0.isOpening && $0.intent == .download })
    else { return }
    start(Limits.aligned(length - Limits.block, Limits.block)..<length, for: &download, isTail: true)
  }

  /// Whether a seek had better wait for the end's connection: a new one takes half of the time to the first head.
  private mutating func awaitsTail(_ download: Download) -> Bool {
    guard download.fetches.contains(where: \.isTail),
      let first = download.fetches.first(where: { !$0.isTail && $0.isFeeding }), let began = first.began
    else { return false }
    return !isPast(began.adding(began.seconds(since: first.asked) / 4), for: download.key)
  }

  private var heldEach: Int64 {
    max(min(Limits.held / Int64(max(fetches.count, 1)), Limits.heldEach.most), Limits.heldEach.least)
  }

  mutating func came(_ count: Int, of id: FlowID) {
    guard count > 0 else { return }
    change(fetches[id], isQuiet: true) { core, download in
      download.meter.came(Int64(count))
      if download.isBackground { core.throttle.spend(count, at: core.now.instant) }
      if download.record.error != nil && download[id]?.isFeeding == true {
        download.record.error = nil
        core.touch(&download)
      }
      core.take(Int64(count), of: id, &download)
      core.pump(id, &download)
    }
  }

  /// More has come of what may come. Where it is more than that it ends here.
  mutating func take(_ count: Int64, of id: FlowID, _ download: inout Download) {
    guard download[id]?.intake.came(count) == false, download[id]?.hasEnded == false else { return }
    download[id]?.ending = .ended(nil)
  }

  /// Gives to the disk what is due of what a response holds; ends it where it has ended.
  mutating func pump(_ id: FlowID, _ download: inout Download, _ least: Intake.Urgency = .none) {
    if let fetch = download[id], fetch.isFeeding,
      let step = write(id, &download, least == .none ? urgency(of: fetch, download) : least)
    {
      endFetch(id, of: &download)
      // Once more beside the same response it would not be told apart either.
      if step == .tooFewStored { download.refusesBeside = true }
      return touch(&download)
    }
    steer(id, &download)
    if let fetch = download[id], fetch.isFeeding, fetch.intake.held == 0,
      case .ended(let failure) = fetch.ending
    {
      finished(fetch, &download, failure)
    }
  }

  /// Holds a response while much of it waits here, `limit_rate` is used up, or a reader waits for another response.
  private mutating func steer(_ id: FlowID, _ download: inout Download) {
    guard let fetch = download[id], fetch.head != nil else { return }
    let opens = download.isBackground ? throttle.opens(at: now.instant) : nil
    if let opens { timers.add(.throttle, at: opens) }
    let isFull = fetch.isHeld ? fetch.intake.held > heldEach / 2 : fetch.intake.held >= heldEach
    let isHeld = fetch.hasEnded || opens != nil || givesWay(fetch, download) || isFull
    if isHeld == fetch.isHeld { return }
    download[id]?.isHeld = isHeld
    if !isHeld && fetch.isFeeding { download.meter.letGo() }
    emit(.hold(id, isHeld))
  }

  mutating func letGoOfThrottled() {
    for key in running {
      change(key, isQuiet: true) { core, download in
        for fetch in download.fetches { core.steer(fetch.id, &download) }
      }
    }
  }

  /// - Returns: why nothing more of it is of use.
  @discardableResult
  private mutating func write(
    _ id: FlowID, _ download: inout Download, _ urgency: Intake.Urgency
  ) -> Intake.Step? {
    guard let files = download.openFiles else { return nil }
    let own = download[id]?.rate(now.instant) ?? 0
    // One that trickles is overtaken.
    let fed = download.fetches.filter {
      $0.id != id && $0.isFeeding && !$0.hasEnded && $0.rate(now.instant) ?? own >= own / 8
    }
    .map(\.intake.position)
    while var intake = download[id]?.intake {
      let step = intake.next(
        stored: download.files?.claimed ?? ByteRanges(), total: files.representation.total, urgency, fed: fed)
      switch step {
      case .write(let range):
        download.files?.claim(range)
        emit(.store(files.id, .write(id, range, leaving: leaving)))
      case .compare(let range):
        download.files?.compare()
        emit(.store(files.id, .compare(id, range)))
      case .reachedStored, .tooFewStored, nil: return step
      }
      download[id]?.intake = intake
    }
    return nil
  }

  private func urgency(of fetch: Fetch, _ download: Download) -> Intake.Urgency {
    let intake = fetch.intake
    if fetch.hasEnded { return .all }
    // A reader that opens it reads its beginning next.
    if intake.position < Limits.beginning && download.isOpenForDownload { return .waited }
    let total = download.openFiles?.representation.total ?? .max
    let isAwaited = download.currentReaders.flatMap(\.waits).contains { wait in
      // All of it is here, or on its way.
      let end = min(wait.range.upperBound, total)
      return wait.range.lowerBound < intake.arrived && end > intake.position && end <= intake.arrived
    }
    // Where little may be held, it is written in smaller pieces.
    return isAwaited || intake.inFlight == 0 && intake.held >= heldEach / 2 ? .waited : .none
  }

  mutating func wrote(_ range: Range<Int64>, of id: FlowID, _ download: inout Download) {
    download.files?.wrote(range)
    download[id]?.intake.wrote(range)
    pump(id, &download)
    guard let files = download.files else { return }
    if files.isComplete || download.fetches.isEmpty {
      touch(&download)
    } else if download.readers.contains(where: { reader in
      reader.isOpening || reader.waits.contains { files.shows($0.range) }
    }) {
      download.isDirty = true
    }
  }

  mutating func compared(_ range: Range<Int64>, agreed: Int64, of id: FlowID, _ download: inout Download) {
    guard let result = download[id]?.intake.compared(range, agreed: agreed) else { return }
    if !result.isSame {
      let isBeside = download.fetches.count > 1
      // What is held behind these bytes is of another file, too.
      endFetch(id, of: &download, losing: true)
      if isBeside { download.ranges = .whole } else { download.beginsAnew = true }
      return touch(&download)
    }
    if result.isShown, let claim = download[id]?.claim {
      download[id]?.claim = nil
      learn(claim, &download)
      touch(&download)
    }
    pump(id, &download)
  }

  /// Once a second while bytes come: rates, progress, and what must go to the disk.
  mutating func tick() {
    for key in running {
      change(key, isQuiet: true) { core, download in
        let isFed = download.fetches.contains { $0.isFeeding && !$0.isHeld }
        let isLimited = download.isBackground && core.throttle.opens(at: core.now.instant) != nil
        let wasSlow = download.meter.isSlow
        download.meter.look(at: core.now.instant, slow: core.slowRate, isFed: isFed, isLimited: isLimited)
        if download.meter.isSlow != wasSlow { core.reconsider() }
        for fetch in download.fetches { core.pump(fetch.id, &download, .all) }
        core.flush(&download, after: 0)
        (download.told.isProgressDue, download.isDirty) = (true, true)
        core.boundEndless(&download)
      }
    }
    measureRoom()
  }

  /// Bytes per second: less than any audio plays. What is held back by us can't be fast.
  private var slowRate: Int64 { min(1024, (settings.limitRate ?? .max) / (4 * max(settings.downloads, 1))) }
}
