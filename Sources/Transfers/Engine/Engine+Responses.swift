internal import EpisodeCache
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

// What responses tell.
extension Engine {
  func heard(_ event: Flow.Event, of flow: Flow, _ key: MediaKey) {
    guard let download = downloads[key],
      let entry = download.flows.first(where: { $0.flow === flow })
    else { return }
    let isBeside = download.flows.count > 1
    var isQueueChanged = true
    switch event {
    case .head(let head, let firstBytes): judge(head, firstBytes, of: flow, entry.task, download)
    case .came: isQueueChanged = false
    case .throttled(let delay):
      isQueueChanged = false
      loop.schedule(at: .after(delay)) { entry.task.resume() }
    case .agreed:
      download.isConfirmed = true
      if let claim = flow.claim {
        flow.claim = nil
        _ = learn(claim, from: flow, download)
      }
    case .exhausted:
      isQueueChanged = false
      watchRoom()
    case .unsynchronized:
      isQueueChanged = false
      if let writer = download.writer { synchronize(download, writer) }
      watchRoom()
    case .reachedStored: endFlow(flow, of: download)
    case .differs:
      endFlow(flow, of: download)
      if isBeside { download.givesRanges = false } else { download.beginsAnew = true }
    case .empty(let head):
      endFlow(flow, of: download)
      // Where something has come before it was an accident.
      let kind: Fault.Kind = download.received > 0 ? .passing : .lasting
      refuse(Fault(kind, "\(head.host) sent an empty file"), download)
    case .disk(let error):
      endFlow(flow, of: download)
      fail(download, error)
    case .ended(let error): ended(error, flow, download)
    }
    touch(download, queue: isQueueChanged)
  }

  private func judge(
    _ head: HTTPResponseHead, _ firstBytes: [UInt8], of flow: Flow, _ task: HTTPTask, _ download: Download
  ) {
    let question = ResponseJudge.Question(
      start: flow.request.start, end: flow.request.end,
      known: download.beginsAnew ? nil : download.writer?.representation,
      stored: download.writer?.present ?? ByteRanges(), decodes: download.decodes,
      isBeside: download.flows.count > 1,
      now: wallClockSeconds())
    switch ResponseJudge.judge(question, head, firstBytes: firstBytes) {
    case .begin(let representation, let at):
      for (other, _) in download.flows where other !== flow { endFlow(other, of: download) }
      do {
        try beginGeneration(of: download, representation)
      } catch {
        endFlow(flow, of: download)
        return fail(download, error as? PosixError ?? PosixError(.EIO, "store"))
      }
      if let total = representation.total, at == 0, head.value("accept-ranges")?.lowercased() == "bytes" {
        download.indexRange = MP4Index.trailing(firstBytes, total: total)
      }
      if head.status == 200 && !question.isWhole && question.known == nil { download.givesRanges = false }
      accept(head, representation, at: at, agreeing: 0, flow, task, download)
      adoptGeneration(download)
    case .go(let representation, let at, let agreeing):
      if head.status == 200 && !question.isWhole { download.givesRanges = false }
      if at != flow.request.start { countStrayPart(download) }
      accept(head, representation, at: at, agreeing: agreeing, flow, task, download)
    case .beginAnew:
      endFlow(flow, of: download)
      download.beginsAnew = true
    case .askWithOverlap:
      endFlow(flow, of: download)
      // A second time it could not be told either: then it is another one.
      if download.needsOverlap { download.beginsAnew = true }
      download.needsOverlap = true
    case .askDecoded:
      endFlow(flow, of: download)
      download.decodes = true
      download.givesRanges = false
    case .noRanges:
      endFlow(flow, of: download)
      download.givesRanges = false
    case .complete:
      endFlow(flow, of: download)
      setTotal(download.writer?.present.end ?? 0, of: download)
    case .fault(let fault):
      endFlow(flow, of: download)
      if flow.isDirect && fault.kind != .passing {
        // The address that answered before has expired: through the feed's own again.
        download.isDirectRefused = true
      } else {
        refuse(fault, download)
      }
    }
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
  private func accept(
    _ head: HTTPResponseHead, _ representation: Representation, at: Int64, agreeing: Int64, _ flow: Flow,
    _ task: HTTPTask, _ download: Download
  ) {
    guard let writer = download.writer else { return endFlow(flow, of: download) }
    // What it says of the stored bytes counts when it has been shown to be of the same representation.
    flow.claim = agreeing > 0 ? representation : nil
    if agreeing <= 0, !learn(representation, from: flow, download) { return }
    if head.status == 206 { download.needsOverlap = false }
    download.hasNoLength = representation.total == nil
    download.endsByClose = head.isDelimitedByClose
    download.isConfirmed = agreeing <= 0
    download.addressAnswered = .now
    if !flow.isDirect { download.isDirectRefused = false }
    for host in [download.host, head.host] where hosts.end(host) { reconsider() }
    download.record.error = nil
    download.record.notBefore = nil
    download.forbiddenUntil = nil
    let sink = Sink(
      writer, at: at, agreeing: agreeing, mayStop: download.givesRanges && representation.validator != nil)
    flow.ignoresRange = head.status == 200
    if settings.minimumFree > 0 { _ = flow.grant(Self.firstGrant) }
    let (isHeld, event) = flow.begin(sink)
    if let event { heard(event, of: flow, download.key) }
    if isHeld { task.resume() }
  }

  /// Takes a response's word for what the current generation is.
  private func learn(_ representation: Representation, from flow: Flow, _ download: Download) -> Bool {
    guard let writer = download.writer else { return false }
    do {
      if writer.representation != representation { try writer.set(representation) }
      download.record.total = representation.total
      return true
    } catch {
      endFlow(flow, of: download)
      fail(download, error)
      return false
    }
  }

  private func ended(_ error: HTTPError?, _ flow: Flow, _ download: Download) {
    let position = flow.position
    endFlow(flow, of: download)
    if let error {
      if flow.isDirect && error.code != .shortBody { download.isDirectRefused = true }
      guard download.flows.isEmpty else {
        // What is under way goes on; what this one has left is asked for again if it brought anything.
        if position < flow.request.start + 65_536 { download.refusesBeside = true }
        return
      }
      return suffer(Fault(error), download)
    }
    guard let writer = download.writer else { return }
    if writer.representation.total == nil && flow.ignoresRange {
      if position < writer.present.end {
        // All agreed up to there: cut, or another file.
        if download.endsByClose || download.earlyEnd != position {
          download.earlyEnd = position
          return suffer(Fault(.passing, "\(download.host) sent less than before"), download)
        }
        download.beginsAnew = true
        return
      }
      if mayBeCut(at: position, download) {
        return suffer(Fault(.passing, "\(download.host) closed the connection early"), download)
      }
      setTotal(position, of: download)
    } else if position == flow.request.start && !writer.isComplete {
      refuse(Fault(.passing, "\(download.host) sent nothing"), download)
    }
  }

  /// Whether a body that ended with its connection has probably been cut: the feed says that it is longer, and
  /// it has not ended there before.
  private func mayBeCut(at position: Int64, _ download: Download) -> Bool {
    guard download.endsByClose, let expected = download.record.request.expectedLength,
      position < expected - expected / 50, download.earlyEnd != position
    else { return false }
    download.earlyEnd = position
    return true
  }

  /// The end of a body without a length tells the size.
  private func setTotal(_ total: Int64, of download: Download) {
    guard let writer = download.writer else { return }
    var representation = writer.representation
    representation.total = total
    do {
      try writer.set(representation)
      download.record.total = total
    } catch {
      fail(download, error)
    }
  }
}
