internal import PodcastModel
internal import TransferProtocol

// The last block of a file, which players look at before they play. It is asked for beside the first request. Its
// connection is free by the time that the first head is here: a seek then needs no new one, nor does the next episode.
extension TransferCore {
  /// Asks for the end of what somebody opens, where nothing of it is here and its host is known to give parts.
  mutating func askForTail(of download: inout Download) {
    guard download.tail == nil, download.fetches.count == 1, !download.beginsAnew,
      download.ranges == .trusted,
      download.retry.lastFault == nil, hosts.givesParts(download.source.named),
      let length = download.record.total ?? download.record.request.expectedLength,
      length >= RequestPlanner.nearby, length <= Limits.largestFile,
      download.readers.contains(where: { $0.isOpening && $0.intent == .download })
    else { return }
    let begin = (length - Limits.block) / Limits.block * Limits.block
    start(RequestedRange(start: begin, end: length), for: &download)
    download.tail = download.fetches.removeLast()
    download.tail?.isTail = true
  }

  /// Lets the end be stored, once the first response has told what it must be of.
  mutating func judgeTail(of download: inout Download) {
    guard let tail = download.tail, case .answered(let head, let firstBytes) = tail.stage else { return }
    // 416: the feed's length is wrong, not the host.
    if head.status != 206 { return endTail(of: &download, isRefused: head.status != 416) }
    guard let open = download.openFiles else { return }
    let at = tail.request.start
    let question = ResponseJudge.Question(
      start: at, end: tail.request.end, known: open.representation, stored: open.claimed,
      isBeside: true, isEpisode: download.record.request.isEpisode)
    guard case .go(let same, at, agreeing: 0) = ResponseJudge.judge(question, head, firstBytes: firstBytes)
    else { return endTail(of: &download, isRefused: true) }
    download.tail = nil
    download.fetches.append(tail)
    accept(head, same, at: at, agreeing: 0, tail.id, &download)
  }

  /// Whether a seek had better wait for the end's connection: a new one takes half of the time to the first head.
  mutating func awaitsTail(_ download: Download) -> Bool {
    guard download.tail != nil || download.fetches.contains(where: \.isTail),
      let first = download.fetches.first(where: { !$0.isTail && $0.intake != nil })
    else { return false }
    let deadline = first.beginning.time.adding(first.beginning.time.seconds(since: first.asked) / 4)
    if deadline <= now.instant { return false }
    timers.add(.download(download.key), at: deadline)
    return true
  }

  /// - Parameter isRefused: whether its host is not to be asked for another one.
  mutating func endTail(of download: inout Download, isRefused: Bool = false) {
    guard let tail = download.tail else { return }
    if isRefused { hosts.learn(download.source.named, givesParts: false) }
    download.tail = nil
    fetches[tail.id] = nil
    emit(.end(tail.id))
  }
}
