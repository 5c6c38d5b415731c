internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension TransferCore {
  mutating func heard(_ head: ResponseHead, _ firstBytes: [UInt8], of id: FlowID, _ download: inout Download)
  {
    download[id]?.head = head
    download[id]?.stage = .answered(firstBytes: firstBytes)
    judgeHeads(of: &download)
  }

  /// Judges heads, as soon as it is known what is stored; that of a file's end once it is known of which file.
  mutating func judgeHeads(of download: inout Download) {
    for id in download.fetches.map(\.id) {
      if download.files != nil && download.openFiles == nil { return }
      guard let fetch = download[id], case .answered(let firstBytes) = fetch.stage, let head = fetch.head,
        !fetch.isTail || download.files != nil
      else { continue }
      download[id]?.stage = .asked
      judge(head, firstBytes, of: fetch, &download)
    }
  }

  private mutating func judge(
    _ head: ResponseHead, _ firstBytes: [UInt8], of fetch: Fetch, _ download: inout Download
  ) {
    let others = download.fetches.filter { $0.id != fetch.id && (!$0.isTail || $0.isFeeding) }
    let question = ResponseJudge.Question(
      isWhole: fetch.request == 0..<Int64.max,
      known: download.beginsAnew ? nil : download.openFiles?.representation,
      stored: download.openFiles?.claimed ?? ByteRanges(), isBeside: fetch.isTail || !others.isEmpty,
      isWriting: download.openFiles.map { $0.pending > 0 } ?? false,
      isEpisode: download.record.request.isEpisode)
    let verdict = ResponseJudge.judge(question, head, firstBytes: firstBytes)
    // Beside another response, a part from another start than asked for is of no use.
    let mustFit = fetch.isTail || question.isBeside && head.status == 206
    if case .go(let same, let at, let agreeing) = verdict,
      !mustFit || at == fetch.request.lowerBound && !(fetch.isTail && agreeing > 0)
    {
      if ignoresRange(head, question) { download.ranges = .whole }
      return accept(same, at: at, agreeing: agreeing, fetch.id, &download)
    }
    if case .begin(let representation, let at) = verdict, !fetch.isTail {
      // The others are of the file before this one.
      for other in others { endFetch(other.id, of: &download, losing: true) }
      download[fetch.id]?.stage = .begins(representation, at: at)
      if question.known == nil && ignoresRange(head, question) { download.ranges = .whole }
      return beginGeneration(of: &download, representation, for: fetch.id)
    }
    endFetch(fetch.id, of: &download, losing: true)
    if fetch.isTail {
      // 416: the feed's length is wrong, not the host.
      if head.status != 416 { hosts.learn(download.source.named, givesParts: false) }
      return
    }
    switch verdict {
    case .begin: break
    case .fault(let fault):
      // Where the address that answered before has expired: through the feed's own again.
      if fetch.isDirect && fault.kind != .passing {
        download.source.answered = nil
      } else {
        refuse(fault, &download)
      }
    case .beginAnew: download.beginsAnew = true
    case .askWithOverlap:
      // A second time it could not be told either: then it is another one.
      if download.ranges == .overlap { download.beginsAnew = true }
      if download.ranges == .trusted { download.ranges = .overlap }
    case .go, .notBeside: download.refusesBeside = true
    case .told(let total) where total <= fetch.request.lowerBound: download.record.total = total
    case .told, .noRanges: download.ranges = .whole
    case .complete: setTotal(download.openFiles?.present.end ?? 0, of: &download)
    }
  }

  /// Whether a server has given the whole though a part was asked for: not where it has another file (If-Range).
  private func ignoresRange(_ head: ResponseHead, _ question: ResponseJudge.Question) -> Bool {
    let asked = question.known?.validator
    let its = ResponseJudge.representation(of: head, total: head.length).validator
    return head.isWhole && !question.isWhole && (asked == nil || asked == its)
  }

  /// A response has given nothing: what is under way beside it goes on.
  private mutating func refuse(_ fault: Fault, _ download: inout Download) {
    if download.fetches.isEmpty { handle(fault, of: &download) } else { download.refusesBeside = true }
  }

  mutating func accept(
    _ representation: Representation, at: Int64, agreeing: Int64, _ id: FlowID, _ download: inout Download
  ) {
    guard let fetch = download[id], let head = fetch.head else { return }
    if download.openFiles == nil { return endFetch(id, of: &download, losing: true) }
    download.source.isPrivate = head.isFromPrivateHost
    download.source.answered = now.instant
    if head.url == download.record.request.url, representation.validator != nil, representation.total != nil,
      head.acceptsRanges || head.status == 206
    {
      hosts.learn(download.source.named, givesParts: true)
    }
    if hosts.end(download.source.named) { reconsider() }
    if head.status == 206 && download.ranges == .overlap { download.ranges = .trusted }
    // A head is no byte: a host that sends nothing else is told of until it does.
    let early = fetch.intake.held
    if early > 0 { download.record.error = nil }
    download.retry.answered()
    let end = min(head.status == 206 ? head.part?.upperBound ?? .max : .max, representation.total ?? .max)
    // Where the file has changed, a host answers If-Range with all of the new file. It may still give parts of it.
    let fits = at == fetch.request.lowerBound || head.isWhole && agreeing == 0
    let mayStop = download.ranges != .whole && representation.validator != nil && fits
    download[id]?.stage = .feeding(now.instant)
    download[id]?.intake = Intake(at: at, end: end, agreeing: agreeing, mayStop: mayStop)
    take(early, of: id, &download)
    emit(.place(id, at: at))
    // What it says of the stored bytes counts when it has been shown to be of the same representation.
    if agreeing > 0 { download[id]?.claim = representation } else { learn(representation, &download) }
    pump(id, &download)
  }

  mutating func learn(_ representation: Representation, _ download: inout Download) {
    guard let open = download.openFiles else { return }
    download.record.total = representation.total
    if open.representation == representation { return }
    download.files?.describe(representation)
    emit(.store(open.id, .describe(representation)))
  }

  mutating func ended(_ failure: Fault?, of id: FlowID, _ download: inout Download) {
    guard let fetch = download[id], !fetch.hasEnded else { return }
    download[id]?.ending = .ended(failure)
    if fetch.isFeeding {
      pump(id, &download, .all)
    } else if fetch.stage == .asked {
      finished(fetch, &download, failure)
    }
  }

  /// All that a response has brought is written.
  mutating func finished(_ fetch: Fetch, _ download: inout Download, _ failure: Fault?) {
    let position = fetch.intake.position
    endFetch(fetch.id, of: &download, losing: true)
    touch(&download)
    if fetch.isTail {
      // A host that has just answered gives one response at a time; else it may be the network.
      if failure != nil && !fetch.isFeeding && download.openFiles != nil {
        hosts.learn(download.source.named, givesParts: false)
      }
    } else if let failure {
      if fetch.isDirect && !failure.isShortBody { download.source.answered = nil }
      let isWhole = fetch.head?.isWhole == true && position > 0
      let isLie = failure.isShortBody && isWhole && endsEarly(at: position, &download) >= Self.shortEnds
      // The episode's other requests go on. A request that brought nothing beside them is not repeated beside them.
      if !download.fetches.isEmpty {
        if position < fetch.request.lowerBound + Retry.progress { download.refusesBeside = true }
      } else if isLie {
        handle(Fault(.lasting, "\(download.source.named) sends less than it announces"), of: &download)
      } else {
        handle(failure, of: &download)
      }
    } else if let open = download.openFiles {
      if open.representation.total == nil, let head = fetch.head, head.isWhole {
        endedWithoutLength(head, at: position, open, &download)
      } else if !open.claimed.contains(fetch.request.lowerBound) && !open.isComplete {
        // The host's part began too late. A request for what is missing would bring the same.
        download.ranges = .whole
        refuse(Fault(.passing, "\(download.source.named) sent nothing of what was asked for"), &download)
      }
    }
  }

  /// - Returns: how often in a row it has ended there.
  private func endsEarly(at position: Int64, _ download: inout Download) -> Int {
    let count = (download.source.earlyEnd[position] ?? 0) + 1
    download.source.earlyEnd = [position: count]
    return count
  }

  private static let shortEnds = 3

  private mutating func endedWithoutLength(
    _ head: ResponseHead, at position: Int64, _ open: OpenFiles, _ download: inout Download
  ) {
    let feedSays = download.record.request.expectedLength.map { $0 - $0 / 50 } ?? 0
    if position < open.present.end {
      // All agreed up to there: cut, or another file.
      if head.isDelimitedByClose || endsEarly(at: position, &download) < 2 {
        return handle(Fault(.passing, "\(download.source.named) sent less than before"), of: &download)
      }
      download.beginsAnew = true
    } else if head.isDelimitedByClose, position < feedSays, endsEarly(at: position, &download) < 2 {
      handle(Fault(.passing, "\(download.source.named) closed the connection early"), of: &download)
    } else {
      setTotal(position, of: &download)
    }
  }

  private mutating func setTotal(_ total: Int64, of download: inout Download) {
    guard var representation = download.openFiles?.representation else { return }
    representation.total = total
    learn(representation, &download)
  }

  mutating func handle(_ fault: Fault, of download: inout Download) {
    touch(&download)
    // What the user holds stays held.
    if download.demand == .paused { return endFetches(of: &download) }
    download.retry.failed(at: now, retryAfter: fault.retryAfter)
    download.retry.lacksRoom = fault.isOfRoom
    if fault.isOfRoom { endFetches(of: &download) }
    // The cache removes other episodes to make room. Readers wait for that, and get no error yet.
    if fault.kind == .noRoom && makesRoom(for: download) {
      download.retry.refusal = nil
      return tryLater(&download, fault)
    }
    let waitsForCache = fault.kind == .noRoom && download.isBackground && !download.servesReaders
    download.record.error = waitsForCache ? Self.cacheIsFull : fault.message
    download.retry.refusal = fault.readerErrno.map {
      Retry.Refusal(failure: TransferFailure($0, fault.message), at: now.instant)
    }
    switch fault.kind {
    case .doubtful where download.retry.isCertain(at: now.wall, in: network): fail(&download)
    case .passing, .doubtful, .noRoom, .runtimeFull:
      tryLater(&download, fault)
      if fault.host != nil,
        let until = hosts.failed(
          download.source.named, by: download.key, retryAfter: fault.retryAfter, at: now.instant, &random)
      {
        timers.add(.queue, at: until)
      }
    case .expired where askForAddress(&download): break
    case .lasting, .expired: fail(&download)
    }
  }

  private mutating func fail(_ download: inout Download) {
    endFetches(of: &download)
    download.demand = .failed
    download.retry.until = nil
  }

  /// Sets the time of the next try. Jitter spreads many downloads. The server's Retry-After is kept.
  private mutating func tryLater(_ download: inout Download, _ fault: Fault) {
    // For want of room each try costs what comes before the disk refuses it.
    let isWaitedFor = !fault.isOfRoom && download.readers.contains { $0.isOpening || !$0.waits.isEmpty }
    let delay = download.retry.failed(
      received: download.openFiles?.received ?? 0, of: download.record.generation, isWaitedFor: isWaitedFor)
    let next = now.instant.adding(max(random.jitter(delay), fault.retryAfter ?? 0))
    let time = max(next, download.retry.forbiddenUntil ?? next)
    download.retry.until = time
    timers.add(.download(download.key), at: time)
  }

  /// Asks the mounts for a fresh address, once; answers whether there is anyone to ask.
  private mutating func askForAddress(_ download: inout Download) -> Bool {
    if download.isSearching { return true }
    let able = clients.filter(\.value).keys.sorted()
    guard download.search == .none, !able.isEmpty else { return false }
    let url = download.record.request.url
    let until = now.instant.adding(Self.searchTime)
    download.search = .asked(old: url, until: until)
    for client in able { emit(.send(client, .needAddress(download.key, url: url))) }
    timers.add(.download(download.key), at: until)
    return true
  }

  private static let searchTime = 20.0

  mutating func endSearchIfOverdue(_ download: inout Download) {
    guard case .asked(_, let until) = download.search, isPast(until, for: download.key) else { return }
    download.search = .done
    fail(&download)
  }

  mutating func heardAddress(_ key: MediaKey, _ url: String?) {
    change(key) { core, download in
      guard case .asked(let old, _) = download.search else { return }
      download.search = .done
      guard let url, url != old else {
        download.retry.failed(at: core.now)
        return core.fail(&download)
      }
      var request = download.record.request
      request.url = url
      download.take(request)
      download.record.error = nil
    }
  }

  mutating func endResponses() {
    changeAll(where: { !$0.fetches.isEmpty }) { core, download in
      for fetch in download.fetches { core.pump(fetch.id, &download, .all) }
      core.endFetches(of: &download)
    }
  }

  /// Asks again at once where a try was to be made later for want of a network; not where the server has told a time.
  mutating func networkChanged() {
    network += 1
    hosts.endAll()
    reconsider()
    changeAll(where: { $0.retry.until != nil }) { core, download in
      download.retry.networkChanged(at: core.now.instant)
    }
  }
}
