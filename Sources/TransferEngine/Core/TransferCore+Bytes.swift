internal import PodcastModel
internal import TransferProtocol

extension TransferCore {
  private var heldEach: Int64 {
    max(min(Limits.held / Int64(max(fetches.count, 1)), Limits.heldEach.most), Limits.heldEach.least)
  }

  mutating func came(_ count: Int, of id: FlowID) {
    guard count > 0 else { return }
    change(fetches[id], isQuiet: true) { core, download in
      if download.tail?.id == id { download.tail?.early += Int64(count) }
      guard let index = download.fetches.firstIndex(where: { $0.id == id }) else { return }
      download.meter.came(Int64(count))
      if download.fetches[index].intake == nil {
        download.fetches[index].early += Int64(count)
        if download.fetches[index].early >= core.heldEach { core.hold(id, &download, .files) }
      } else {
        if download.record.error != nil {
          download.record.error = nil
          core.touch(&download)
        }
        core.take(Int64(count), of: &download.fetches[index])
        core.pump(id, &download)
      }
      guard download.isBackground else { return }
      core.throttle.spend(count, at: core.now.instant)
      if let opens = core.throttle.opens(at: core.now.instant) {
        core.hold(id, &download, .throttle)
        core.timers.add(.throttle, at: opens)
      }
    }
  }

  /// More has come of what may come. Where it is more than that it ends here.
  mutating func take(_ count: Int64, of fetch: inout Fetch) {
    guard fetch.intake?.came(count) == false, !fetch.hasEnded else { return }
    fetch.ending = .ended(nil)
    emit(.stop(fetch.id))
  }

  mutating func letGoOfThrottled() {
    if let opens = throttle.opens(at: now.instant) { return timers.add(.throttle, at: opens) }
    for key in downloads.runningInOrder {
      change(key, isQuiet: true) { core, download in
        for id in download.fetches.map(\.id) { core.unhold(id, &download, .throttle) }
      }
    }
  }

  /// Gives to the disk what is due of what a response holds; ends it where it has ended.
  mutating func pump(_ id: FlowID, _ download: inout Download, _ least: Intake.Urgency = .none) {
    guard let fetch = download[id], fetch.intake != nil else { return }
    if let step = write(id, &download, least == .none ? urgency(of: fetch, download) : least) {
      endFetch(id, of: &download)
      // Once more beside the same response it would not be told apart either.
      if step == .tooFewStored { download.refusesBeside = true }
      return touch(&download)
    }
    guard let fetch = download[id], let intake = fetch.intake else {
      return
    }
    if intake.held >= heldEach {
      hold(id, &download, .disk)
    } else if intake.held <= heldEach / 2 {
      unhold(id, &download, .disk)
    }
    if intake.held == 0, case .ended(let failure) = fetch.ending { finished(fetch, &download, failure) }
  }

  /// - Returns: why nothing more of it is of use.
  @discardableResult
  mutating func write(_ id: FlowID, _ download: inout Download, _ urgency: Intake.Urgency) -> Intake.Step? {
    guard let files = download.openFiles else { return nil }
    let own = download[id]?.rate(now.instant) ?? 0
    let fed = download.fetches.compactMap { other in
      // What trickles is overtaken.
      let isTrickle = other.rate(now.instant).map { $0 < own / 8 } ?? false
      return other.id == id || other.hasEnded || isTrickle ? nil : other.intake?.position
    }
    while let index = download.fetches.firstIndex(where: { $0.id == id }),
      var intake = download.fetches[index].intake
    {
      let step = intake.next(
        stored: download.files?.claimed ?? ByteRanges(), total: files.representation.total, urgency, fed: fed,
        room: left)
      guard let step else { return nil }
      switch step {
      case .write(let range):
        guard takeRoom(for: range, of: &download) else { return nil }
        download.files?.claim(range)
        emit(.store(files.id, .write(id, range)))
      case .compare(let range):
        download.files?.pending += 1
        emit(.store(files.id, .compare(id, range)))
      case .reachedStored, .tooFewStored: return step
      }
      download.fetches[index].intake = intake
    }
    return nil
  }

  /// How soon what a response holds must go to the disk.
  private func urgency(of fetch: Fetch, _ download: Download) -> Intake.Urgency {
    guard let intake = fetch.intake else { return .none }
    if fetch.hasEnded { return .all }
    // A reader that opens it reads its beginning next.
    if intake.position < Limits.beginning && download.isOpenForDownload { return .waited }
    let total = download.openFiles?.representation.total ?? .max
    for reader in download.readers where reader.isCurrent(download.record.generation) {
      for wait in reader.waits where wait.range.lowerBound < intake.arrived {
        // All of it is here, or on its way.
        let end = min(wait.range.upperBound, total)
        if end > intake.position && end <= intake.arrived { return .waited }
      }
    }
    // Where little may be held, it is written in smaller pieces.
    return intake.inFlight == 0 && intake.held >= heldEach / 2 ? .waited : .none
  }

  private mutating func endDiffering(_ id: FlowID, _ download: inout Download) {
    let isBeside = download.fetches.count > 1
    endFetch(id, of: &download)
    if isBeside { download.ranges = .whole } else { download.beginsAnew = true }
    touch(&download)
  }

  mutating func wrote(_ range: Range<Int64>, of id: FlowID, _ download: inout Download) {
    download.files?.wrote(range)
    if let index = download.fetches.firstIndex(where: { $0.id == id }) {
      download.fetches[index].intake?.wrote(range)
      pump(id, &download)
    }
    guard let files = download.files else { return }
    let isAwaited = download.readers.contains { reader in
      reader.isOpening || reader.waits.contains { files.shows($0.range) }
    }
    if files.isComplete || download.fetches.isEmpty {
      touch(&download)
    } else if isAwaited {
      download.isDirty = true
    }
  }

  mutating func compared(_ range: Range<Int64>, agreed: Int64, of id: FlowID, _ download: inout Download) {
    guard let index = download.fetches.firstIndex(where: { $0.id == id }),
      let result = download.fetches[index].intake?.compared(range, agreed: agreed)
    else { return }
    if !result.isSame { return endDiffering(id, &download) }
    if result.isShown, let claim = download.fetches[index].claim {
      download.fetches[index].claim = nil
      learn(claim, &download)
      touch(&download)
    }
    pump(id, &download)
  }

  /// Once a second while bytes come: rates, progress, and what must go to the disk.
  mutating func tick() {
    for key in downloads.runningInOrder {
      change(key, isQuiet: true) { core, download in
        // What is held back says nothing of its host.
        let isFed = download.fetches.contains { $0.intake != nil && $0.holds.isEmpty }
        download.meter.look(at: core.now.instant, slow: isFed ? core.slowRate : 0)
        for id in download.fetches.map(\.id) { core.pump(id, &download, .all) }
        core.flush(&download, after: 0)
        download.told.isProgressDue = true
        download.isDirty = true
        core.boundEndless(&download)
      }
    }
    watchRoom()
    endTrickles()
  }
}
