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
    return Set(
      download.fetchableWaits.compactMap { wait in
        if download.openFiles?.shows(wait) == true { return nil }
        let first = planner.hole(of: wait)?.lowerBound ?? wait.lowerBound
        return download.fetches.filter { $0.intake.position <= first && first < $0.request.upperBound }
          .max { $0.intake.position < $1.intake.position }?.id
      })
  }

  /// Whether `fetch` waits while another response brings what a reader waits for: both share one link. A response that is
  /// being compared needs the bytes of the others.
  func givesWay(_ fetch: Fetch, _ download: Download) -> Bool {
    if download.fetches.count < 2 || fetch.isTail || download.fetches.contains(where: { $0.claim != nil }) {
      return false
    }
    let awaited = awaited(in: download)
    return !awaited.isEmpty && !awaited.contains(fetch.id)
  }

  /// Whether another request may follow at once. A server that never gives anything of use is left alone.
  private mutating func mayAsk(_ requests: [Range<Int64>], _ download: inout Download) -> Bool {
    guard download.fetches.isEmpty else { return true }
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
    if download.beginsAnew || !download.ranges.givesRanges {
      planned = whole
    } else if let open = download.openFiles, planned.lowerBound > 0,
      open.representation.validator == nil || download.ranges == .overlap
    {
      let run = open.present.run(at: planned.lowerBound - 1)
      let isEnough = run?.upperBound == planned.lowerBound && run?.length ?? 0 >= ResponseJudge.overlap
      planned = isEnough ? planned.lowerBound - ResponseJudge.overlap..<planned.upperBound : whole
    }
    // For five minutes, requests go to the address that redirects led to. Later it may have expired.
    let source = download.source
    let isFresh = source.answered.map { now.instant < $0.adding(300) } ?? false
    let isDirect =
      planned.lowerBound > 0 && isFresh && representation != nil
      && representation?.finalURL != download.record.request.url
    var request = MediaRequest(url: download.record.request.url, settings: settings)
    if isDirect { request.url = representation?.finalURL ?? "" }
    request.userAgent = download.record.request.userAgent ?? settings.userAgent
    // Leave to reach private hosts has ended on the way to a public one, and does not begin there again.
    request.allowsPrivateHosts = download.record.request.allowsPrivateHosts && (!isDirect || source.isPrivate)
    if planned != whole {
      request.range = planned
      request.validator = representation?.validator
    }
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
}

// The last block of a file, which players look at before they play. It is asked for beside the first request. Its
// connection is free by the time that the first head is here: a seek then needs no new one, nor does the next episode.
extension TransferCore {
  /// Asks for the end of what somebody opens, where nothing of it is here and its host is known to give parts.
  private mutating func askForTail(of download: inout Download) {
    guard download.fetches.count == 1, !download.beginsAnew, download.ranges == .trusted,
      download.retry.failed == nil, hosts.givesParts(download.source.named),
      let length = download.record.total ?? download.record.request.expectedLength,
      length >= RequestPlanner.nearby, length <= Limits.largestFile,
      download.readers.contains(where: { $0.isOpening && $0.intent == .download })
    else { return }
    let begin = (length - Limits.block) / Limits.block * Limits.block
    start(begin..<length, for: &download, isTail: true)
  }

  /// Whether a seek had better wait for the end's connection: a new one takes half of the time to the first head.
  private mutating func awaitsTail(_ download: Download) -> Bool {
    guard download.fetches.contains(where: \.isTail),
      let first = download.fetches.first(where: { !$0.isTail && $0.isFeeding }), let began = first.began
    else { return false }
    return !isPast(began.adding(began.seconds(since: first.asked) / 4), for: download.key)
  }
}
