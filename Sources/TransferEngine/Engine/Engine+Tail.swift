internal import PodcastModel
internal import TransferProtocol

// The end of a file, which players look at before they play. It is asked for beside the first request, and its
// connection is free by the time at which the first head is there: so who then reads elsewhere, or opens the next
// episode, pays for no new one.
extension Engine {
  /// Bytes at the least: tags at the end begin in them as a rule.
  private static let tailLength = Limits.block
  /// Of what is smaller by the feed's word the end comes soon enough.
  private static let leastLength = RequestPlanner.nearby

  /// Of what nothing is stored of, where somebody opens it, its size is known, by the feed's word at the least, and the
  /// host to give parts itself, not by way of others: who counts what goes through a tracker counts one request.
  func askForTail(of download: Download) {
    guard download.tail == nil, download.flows.count == 1, !download.beginsAnew, download.lastFault == nil,
      senders.givesParts(download.host), download.givesRanges,
      let length = download.record.total ?? download.record.request.expectedLength,
      length >= Self.leastLength, length <= Limits.largestFile,
      download.handles.contains(where: { $0.isOpening && $0.intent == .download })
    else { return }
    var request = mediaRequest(of: download)
    let start = (length - Self.tailLength) / Limits.block * Limits.block
    request.range = RequestedRange(start: start, end: length)
    let flow = Flow(
      FlowID(nextNumber()), RequestPlanner.Request(start: start, end: length, isUrgent: true),
      isDirect: false, asked: now.instant, isTail: true)
    flows[flow.id] = (flow, download)
    download.tail = flow
    emit(.ask(flow.id, request))
  }

  /// What the first response is of decides, so that is waited for.
  func judgeTail(of download: Download) {
    guard let flow = download.tail, let (head, firstBytes) = flow.head else { return }
    // The feed is wrong, not the host.
    if head.status == 416 { return dropTail(of: download) }
    guard head.status == 206 else { return refuseTail(of: download) }
    guard let store = download.openStore else { return }
    let question = ResponseJudge.Question(
      start: flow.request.start, end: flow.request.end, known: store.representation, stored: store.claimed,
      decodes: false, isBeside: true)
    guard
      case .go(let representation, at: flow.request.start, agreeing: 0) = ResponseJudge.judge(
        question, head, firstBytes: firstBytes)
    else { return refuseTail(of: download) }
    download.tail = nil
    flow.head = nil
    download.flows.append(flow)
    accept(head, representation, at: flow.request.start, agreeing: 0, flow, download)
  }

  /// Whether a seek had better wait until the end has come, which is a matter of a moment: it goes by that connection
  /// then, and a new one costs half of the time until the first head.
  func awaitsTail(_ download: Download) -> Bool {
    let isComing = download.tail != nil || download.flows.contains { $0.isTail && $0.end == nil }
    guard isComing, let first = download.flows.first(where: { !$0.isTail }), let beginning = first.beginning
    else { return false }
    let deadline = beginning.time.adding(beginning.time.seconds(since: first.asked) / 4)
    if deadline <= now.instant { return false }
    timers.add(.download(download.key), at: deadline)
    return true
  }

  func learnOfTails(_ head: ResponseHead, _ representation: Representation, _ download: Download) {
    guard head.url == download.record.request.url, head.partTotal ?? head.length != nil,
      representation.validator != nil, head.acceptsRanges || head.status == 206
    else { return }
    senders.learn(download.host, givesParts: true)
  }

  /// Its host does not give what is of use.
  func refuseTail(of download: Download) {
    senders.learn(download.host, givesParts: false)
    dropTail(of: download)
  }

  /// Where the network is down, that says nothing of the host; where it has just answered, it gives one at a time.
  func failTail(of download: Download) {
    if download.openStore == nil { dropTail(of: download) } else { refuseTail(of: download) }
  }

  func dropTail(of download: Download) {
    guard let flow = download.tail else { return }
    download.tail = nil
    flows[flow.id] = nil
    emit(.end(flow.id))
  }
}
