internal import PodcastModel
internal import TransferProtocol

// Who waits.
extension Engine {
  /// Answers opens and waits that can be answered by now.
  func answerReaders(of download: Download) {
    for handle in download.handles {
      if handle.isOpening { answerOpen(of: handle, download) }
      if !handle.waits.isEmpty { answerWaits(of: handle, download) }
    }
  }

  private func answerOpen(of handle: ReaderHandle, _ download: Download) {
    let record = download.record
    if handle.intent == .download && handle.generation == nil {
      let isSizeKnown = record.total != nil || download.hasNoLength
      let isSizeShown = isSizeKnown && download.openStore?.undescribed == 0
      guard isSizeShown && !awaitsConfirmation(handle, download) else {
        let refusal = refusal(of: download, since: handle.begun)
        if let failure = failure(of: download) ?? cancellation(of: download) ?? refusal {
          handle.isOpening = false
          reply(.openFailed(id: handle.name.id, failure), to: handle.name.client)
        }
        return
      }
    }
    // What is stored may be on its way to be opened.
    if download.store != nil && download.openStore == nil { return }
    handle.isOpening = false
    if handle.generation == nil, download.openStore != nil { handle.generation = record.generation }
    reply(
      .opened(id: handle.name.id, generation: handle.generation ?? 0, total: record.total),
      to: handle.name.client)
  }

  /// Whether to wait a little for the server's word on whether what is stored is still its file: a reader
  /// that began with the old one would get no more than what is here of it.
  private func awaitsConfirmation(_ handle: ReaderHandle, _ download: Download) -> Bool {
    guard download.isWanted, !download.isConfirmed, let store = download.openStore, !store.isComplete,
      download.retryAt == nil, download.record.state != .paused
    else { return false }
    let deadline = handle.begun.adding(5)
    if deadline <= now.instant { return false }
    timers.add(.download(download.key), at: deadline)
    return true
  }

  /// Handles without a generation get the one that has begun.
  func adoptGeneration(_ download: Download) {
    for handle in download.handles where handle.generation == nil && !handle.isOpening {
      handle.generation = download.record.generation
      reply(
        .opened(
          id: handle.name.id, generation: download.record.generation, total: download.record.total),
        to: handle.name.client)
    }
  }

  private func answerWaits(of handle: ReaderHandle, _ download: Download) {
    let isGone = handle.generation != nil && download.store == nil && download.hasFiles == false
    let isStale = !handle.isCurrent(download.record.generation) || isGone
    let failure = isGone ? .gone : isStale ? .changed : self.failure(of: download)
    for (id, wait) in handle.waits.sorted(by: { $0.key < $1.key }) {
      let range = wait.range
      if !isStale, let store = download.openStore, store.shows(range) {
        handle.waits[id] = nil
        reply(.available(wait: id), to: handle.name.client)
      } else if let failure = failure ?? refusal(of: download, since: wait.begun) {
        handle.waits[id] = nil
        reply(.unavailable(wait: id, failure), to: handle.name.client)
      }
    }
  }

  /// Ends what readers wait for who only fetch what they read: nothing is remembered of it.
  func failWaits(of download: Download, _ failure: TransferFailure) {
    for handle in download.handles {
      for id in handle.waits.keys.sorted() { reply(.unavailable(wait: id, failure), to: handle.name.client) }
      handle.waits = [:]
    }
  }

  /// Why no byte will come; nil while one may.
  private func failure(of download: Download) -> TransferFailure? {
    let record = download.record
    switch record.state {
    case .failed: return .lasting(record.error ?? "failed")
    case .paused: return record.waitsForRoom ? .noRoom(record.error ?? "no space left") : nil
    case .remote, .queued, .downloading, .cached: return nil
    }
  }

  /// Why an open that was to download has nothing to wait for any more.
  private func cancellation(of download: Download) -> TransferFailure? {
    download.record.state == .remote ? .lasting("the download was cancelled") : nil
  }

  /// How soon what a response holds must go to the disk.
  func urgency(of flow: Flow, _ download: Download) -> Intake.Urgency {
    guard let intake = flow.intake else { return .none }
    if flow.end != nil { return .all }
    if let since = flow.heldSince, now.instant >= since.adding(Limits.patience) { return .all }
    // Who opens it reads its beginning next.
    if intake.position < Limits.beginning && download.isOpenForDownload { return .waited }
    let total = download.openStore?.representation.total ?? .max
    for handle in download.handles where handle.isCurrent(download.record.generation) {
      for wait in handle.waits.values.lazy.map(\.range) where wait.lowerBound < intake.arrived {
        // All of it is here, or on its way.
        let end = min(wait.upperBound, total)
        guard end > intake.position && end <= intake.arrived else { continue }
        // The byte that it waits for may be in a block that is not whole yet.
        let isOfEdge = wait.length == 1 && end > intake.arrived / Limits.block * Limits.block
        return isOfEdge ? .all : .waited
      }
    }
    // Where little may be held, it is written in smaller pieces.
    return intake.inFlight == 0 && intake.held >= heldEach / 2 ? .waited : .none
  }

  /// What somebody waits for after a seek comes before what nobody waits for, on the way from the host too: the link is
  /// theirs alone for a second at the most, and as long afterwards it is nobody's.
  func givePrecedence(in download: Download) {
    var first: [Flow] = []
    if download.flows.count > 1 {
      first = awaited(in: download)
      for flow in download.flows {
        flow.idleSince = first.contains { $0 === flow } ? nil : flow.idleSince ?? now.instant
      }
    }
    let since = download.precedence.since ?? now.instant
    let deadline = since.adding(Self.longestPrecedence)
    let isGiven =
      !first.isEmpty && first.count < download.flows.count && now.instant < deadline
      && download.precedence.until.map { now.instant >= $0 } ?? true
    if isGiven {
      download.precedence = (since, nil)
      timers.add(.download(download.key), at: deadline)
    } else if let since = download.precedence.since {
      download.precedence = (nil, now.instant.adding(now.instant.seconds(since: since)))
    }
    for flow in download.flows {
      let isHeld = isGiven && flow.intake != nil && !flow.isTail && !first.contains { $0 === flow }
      if isHeld { hold(flow, .precedence) } else { unhold(flow, .precedence) }
    }
  }

  /// Seconds.
  private static let longestPrecedence = 1.0

  /// The responses that bring what readers wait for.
  func awaited(in download: Download) -> [Flow] {
    let store = download.openStore
    return download.fetchableWaits.compactMap { wait in
      if store?.shows(wait) == true { return nil }
      let first = store?.claimed.missing(in: wait).first?.lowerBound ?? wait.lowerBound
      return download.flows.filter { $0.position <= first && first < $0.request.end ?? .max }
        .max { $0.position < $1.position }
    }
  }
}
