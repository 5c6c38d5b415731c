internal import PodcastModel
internal import TransferProtocol

extension TransferCore {
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
    let isHeld =
      fetch.hasEnded || opens != nil || givesWay(fetch, download)
      || (fetch.isHeld ? fetch.intake.held > heldEach / 2 : fetch.intake.held >= heldEach)
    if isHeld == fetch.isHeld { return }
    download[id]?.isHeld = isHeld
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
  mutating func write(_ id: FlowID, _ download: inout Download, _ urgency: Intake.Urgency) -> Intake.Step? {
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
      guard let step else { return nil }
      switch step {
      case .write(let range):
        download.files?.claim(range)
        emit(.store(files.id, .write(id, range, leaving: leaving)))
      case .compare(let range):
        download.files?.compare()
        emit(.store(files.id, .compare(id, range)))
      case .reachedStored, .tooFewStored: return step
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
      endFetch(id, of: &download)
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
        // What is held back says nothing of its host.
        let isFed = download.fetches.contains { $0.isFeeding && !$0.isHeld }
        let wasSlow = download.meter.isSlow
        let isLimited = download.isBackground && core.throttle.opens(at: core.now.instant) != nil
        download.meter.look(at: core.now.instant, slow: isFed ? core.slowRate : 0, isLimited: isLimited)
        if download.meter.isSlow != wasSlow { core.reconsider() }
        for fetch in download.fetches { core.pump(fetch.id, &download, .all) }
        core.flush(&download, after: 0)
        download.told.isProgressDue = true
        download.isDirty = true
        core.boundEndless(&download)
      }
    }
    measureRoom()
  }

  /// Bytes per second: less than any audio plays. What is held back by us can't be fast.
  private var slowRate: Int64 { min(1024, (settings.limitRate ?? .max) / (4 * max(settings.downloads, 1))) }
}
