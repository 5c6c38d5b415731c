internal import PodcastModel
internal import TransferProtocol

// What responses tell.
extension Engine {
  func heard(_ head: ResponseHead, _ firstBytes: [UInt8], of id: FlowID) {
    guard let (flow, download) = flows[id] else { return }
    flow.head = (head, firstBytes)
    if flow === download.tail { judgeTail(of: download) } else { judgeWaiting(of: download) }
    touch(download)
  }

  /// Judges heads, as soon as it is known what is stored.
  func judgeWaiting(of download: Download) {
    // What is made next may have the names that are being taken away.
    if download.store == nil && orders.removals[download.key] != nil { return }
    for flow in download.flows {
      if download.store != nil && download.openStore == nil { return }
      guard let (head, firstBytes) = flow.head, flows[flow.id] != nil else { continue }
      flow.head = nil
      judge(head, firstBytes, of: flow, download)
      touch(download)
    }
  }

  private func judge(_ head: ResponseHead, _ firstBytes: [UInt8], of flow: Flow, _ download: Download) {
    let store = download.openStore
    let question = ResponseJudge.Question(
      start: flow.request.start, end: flow.request.end,
      known: download.beginsAnew ? nil : store?.representation,
      stored: store?.claimed ?? ByteRanges(), decodes: download.decodes,
      isBeside: download.flows.count > 1)
    if head.isWhole && firstBytes.isEmpty {
      endFlow(flow, of: download)
      // Where something has come before it was an accident.
      let kind: Fault.Kind = download.received > 0 ? .passing : .doubtful
      return refuse(Fault(kind, "\(head.host) sent an empty file"), download)
    }
    let verdict = ResponseJudge.judge(question, head, firstBytes: firstBytes)
    switch verdict {
    case .begin(let representation, let at):
      for other in download.flows where other !== flow {
        // Of the file before this one.
        other.head = nil
        endFlow(other, of: download)
      }
      flow.verdict = (head, representation, at)
      if let total = representation.total, at == 0, head.acceptsRanges {
        download.indexRange = MP4Index.trailing(firstBytes, total: total)
      } else {
        download.indexRange = nil
      }
      if question.known == nil && ignoresRange(head, question) { download.givesRanges = false }
      beginGeneration(of: download, representation, for: flow)
    case .go(let representation, let at, let agreeing):
      if ignoresRange(head, question) { download.givesRanges = false }
      if at != flow.request.start { countStrayPart(download) }
      accept(head, representation, at: at, agreeing: agreeing, flow, download)
    case .fault(let fault):
      endFlow(flow, of: download)
      if flow.isDirect && fault.kind != .passing {
        // The address that answered before has expired: through the feed's own again.
        download.isDirectRefused = true
      } else {
        refuse(fault, download)
      }
    case .beginAnew, .askWithOverlap, .askDecoded, .notBeside, .noRanges, .complete:
      askAgain(verdict, flow, download)
    }
  }

  /// Whether a server has given the whole though a part was asked for: not where it has another file (If-Range).
  private func ignoresRange(_ head: ResponseHead, _ question: ResponseJudge.Question) -> Bool {
    let asked = question.known?.validator
    let its = ResponseJudge.representation(of: head, total: head.length).validator
    return head.isWhole && !question.isWhole && (asked == nil || asked == its)
  }

  /// A response is of no use as it is.
  private func askAgain(_ verdict: ResponseJudge.Verdict, _ flow: Flow, _ download: Download) {
    endFlow(flow, of: download)
    switch verdict {
    case .beginAnew: download.beginsAnew = true
    case .askWithOverlap:
      // A second time it could not be told either: then it is another one.
      if download.needsOverlap { download.beginsAnew = true }
      download.needsOverlap = true
    case .askDecoded:
      download.decodes = true
      download.givesRanges = false
    case .notBeside: download.refusesBeside = true
    case .noRanges: download.givesRanges = false
    case .complete: setTotal(download.openStore?.present.end ?? 0, of: download)
    case .begin, .go, .fault: break
    }
  }

  /// The generation that a response begins has its files.
  func begun(_ flow: Flow, _ download: Download) {
    guard let (head, representation, at) = flow.verdict else { return }
    flow.verdict = nil
    accept(head, representation, at: at, agreeing: 0, flow, download)
    adoptGeneration(download)
    judgeTail(of: download)
  }

  /// A response has given nothing: what is under way beside it goes on.
  private func refuse(_ fault: Fault, _ download: Download) {
    if download.flows.isEmpty { suffer(fault, download) } else { download.refusesBeside = true }
  }

  /// A part from another start than was asked for: once is of use, but holes would be asked for without end.
  private func countStrayPart(_ download: Download) {
    download.strayParts += 1
    if download.strayParts > 1 { download.givesRanges = false }
  }

  /// Lets a response feed the current generation.
  func accept(
    _ head: ResponseHead, _ representation: Representation, at: Int64, agreeing: Int64, _ flow: Flow,
    _ download: Download
  ) {
    guard download.openStore != nil else { return endFlow(flow, of: download) }
    let isSurplus = isSurplus(download, at: head.host)
    download.sender = head.host
    download.isSenderPrivate = head.isFromPrivateHost
    if !flow.isDirect { senders.learn(head.host, behind: download.host) }
    learnOfTails(head, representation, download)
    // What it says of the stored bytes counts when it has been shown to be of the same representation.
    flow.claim = agreeing > 0 ? representation : nil
    if agreeing <= 0 { learn(representation, download) }
    if head.status == 206 { download.needsOverlap = false }
    download.hasNoLength = representation.total == nil
    download.endsByClose = head.isDelimitedByClose
    download.isConfirmed = agreeing <= 0
    download.addressAnswered = now.instant
    if !flow.isDirect { download.isDirectRefused = false }
    for host in [download.host, head.host] where hosts.end(host) { reconsider() }
    // A head is no byte: a host that sends nothing else is told of until it does.
    if flow.early > 0 { download.record.error = nil }
    download.record.notBefore = nil
    download.forbiddenUntil = nil
    download.refusal = nil
    download.record.doubts = 0
    flow.ignoresRange = head.isWhole
    let total = download.openStore?.isTotalRecalled == true ? nil : representation.total
    flow.intake = Intake(
      at: at, end: min(head.status == 206 ? head.part?.upperBound ?? .max : .max, total ?? .max),
      agreeing: agreeing, mayStop: download.givesRanges && representation.validator != nil)
    take(flow.early, of: flow)
    flow.early = 0
    flow.beginning = (at, now.instant)
    flow.heldSince = now.instant
    timers.add(.patience, at: now.instant.adding(Limits.patience))
    emit(.place(flow.id, at: at))
    if isSurplus || flow.isStopped { return endFlow(flow, of: download) }
    unhold(flow, .store)
    pump(flow, download)
  }

  /// Takes a response's word for what the current generation is.
  func learn(_ representation: Representation, _ download: Download) {
    guard let store = download.openStore else { return }
    download.record.total = representation.total
    if store.representation == representation { return }
    store.representation = representation
    if let total = representation.total { store.cut(at: total) }
    store.isDescriptionNew = true
    store.pending += 1
    store.describes()
    emit(.store(store.id, .describe(representation)))
  }

  /// A response has ended; what is held of it goes first.
  func ended(_ failure: ResponseFailure?, of id: FlowID) {
    guard let (flow, download) = flows[id], flow.end == nil else { return }
    flow.end = .some(failure)
    if flow === download.tail {
      if failure != nil { failTail(of: download) }
      touch(download)
    } else if flow.intake != nil {
      pump(flow, download, .all)
      if flow.isTail { touch(download) }
    } else if flow.head == nil && flow.verdict == nil {
      finished(flow, download, failure)
    }
  }

  /// All that a response has brought is written.
  func finished(_ flow: Flow, _ download: Download, _ failure: ResponseFailure?) {
    let position = flow.position
    endFlow(flow, of: download)
    touch(download)
    if flow.isTail { return }
    if let failure {
      if flow.isDirect && !failure.isShortBody { download.isDirectRefused = true }
      if endsShortEachTime(flow, at: position, failure, download) {
        return suffer(Fault(.lasting, "\(download.host) sends less than it says"), download)
      }
      guard download.flows.isEmpty else {
        // What is under way goes on; what this one has left is asked for again if it brought anything.
        if position < flow.request.start + Self.progress { download.refusesBeside = true }
        return
      }
      return suffer(Fault(failure), download)
    }
    guard let store = download.openStore else { return }
    let isSizeOpen = store.representation.total == nil || store.isTotalRecalled && !store.isComplete
    if isSizeOpen && flow.ignoresRange {
      endedWithoutLength(at: position, store, download)
    } else if position == flow.request.start && !store.isComplete {
      refuse(Fault(.passing, "\(download.host) sent nothing"), download)
    }
  }

  /// Whether the whole, where its host can't go on in the middle, has ended at one place before its end again and again.
  private func endsShortEachTime(
    _ flow: Flow, at position: Int64, _ failure: ResponseFailure, _ download: Download
  ) -> Bool {
    let isWhole = flow.request.start == 0 && flow.request.end == nil
    guard failure.isShortBody, isWhole, position > 0 else { return false }
    let before = download.shortEnd.flatMap { $0.position == position ? $0.count : nil } ?? 0
    download.shortEnd = (position, before + 1)
    return before + 1 >= Self.shortEnds && download.flows.isEmpty
  }

  private static let shortEnds = 3

  private func endedWithoutLength(at position: Int64, _ store: Store, _ download: Download) {
    if position < store.present.end {
      // All agreed up to there: cut, or another file.
      if download.endsByClose || download.earlyEnd != position {
        download.earlyEnd = position
        return suffer(Fault(.passing, "\(download.host) sent less than before"), download)
      }
      download.beginsAnew = true
    } else if mayBeCut(at: position, store, download) {
      suffer(Fault(.passing, "\(download.host) closed the connection early"), download)
    } else {
      setTotal(position, of: download)
    }
  }

  /// Whether a body that ended with its connection has probably been cut: the feed says that it is longer, or it was,
  /// and it has not ended there before.
  private func mayBeCut(at position: Int64, _ store: Store, _ download: Download) -> Bool {
    let expected = download.record.request.expectedLength.map { $0 - $0 / 50 } ?? 0
    let known = store.isTotalRecalled ? store.representation.total ?? 0 : 0
    guard download.endsByClose, position < max(expected, known), download.earlyEnd != position else {
      return false
    }
    download.earlyEnd = position
    return true
  }

  /// The end of a body without a length tells the size.
  private func setTotal(_ total: Int64, of download: Download) {
    guard var representation = download.openStore?.representation else { return }
    representation.total = total
    learn(representation, download)
  }
}
