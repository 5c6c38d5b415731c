internal import PodcastModel
internal import TransferProtocol

// Bytes on their way from a host to the disk.
extension Engine {
  /// What one response may hold.
  var heldEach: Int64 {
    max(min(Limits.held / Int64(max(flows.count, 1)), Limits.heldEach.most), Limits.heldEach.least)
  }

  /// More of a body has come.
  func came(_ count: Int, of id: FlowID) {
    guard count > 0, let (flow, download) = flows[id] else { return }
    if flow.intake == nil {
      flow.early += Int64(count)
      if flow.early >= heldEach { hold(flow, .store) }
    } else {
      if flow.heldSince == nil { noteHeld(flow) }
      if download.record.error != nil {
        download.record.error = nil
        touch(download, queue: false)
      }
      take(Int64(count), of: flow)
      pump(flow, download)
    }
    if download.isBackground {
      throttle.spend(count, at: now.instant)
      if let opens = throttle.opens(at: now.instant) {
        hold(flow, .throttle)
        timers.add(.throttle, at: opens)
      }
    }
  }

  /// More has come of what may come. Where it is more than that it ends here.
  func take(_ count: Int64, of flow: Flow) {
    guard flow.intake?.came(count) == false, flow.end == nil else { return }
    flow.end = .some(nil)
    emit(.stop(flow.id))
  }

  private func noteHeld(_ flow: Flow) {
    flow.heldSince = now.instant
    timers.add(.patience, at: now.instant.adding(Limits.patience))
  }

  /// Writes what has been held for too long.
  func writeWhatIsOld() {
    for (_, (flow, download)) in flows.sorted(by: { $0.key < $1.key }) {
      guard let since = flow.heldSince, flow.intake?.held ?? 0 > 0 else { continue }
      if since.adding(Limits.patience) > now.instant {
        timers.add(.patience, at: since.adding(Limits.patience))
        continue
      }
      pump(flow, download)
      noteHeld(flow)
    }
  }

  func letGoOfThrottled() {
    if let opens = throttle.opens(at: now.instant) { return timers.add(.throttle, at: opens) }
    for (_, (flow, _)) in flows.sorted(by: { $0.key < $1.key }) { unhold(flow, .throttle) }
  }

  /// Gives to the disk what is due of what a response holds; ends it where it has ended.
  func pump(_ flow: Flow, _ download: Download, _ least: Intake.Urgency = .none) {
    guard flows[flow.id] != nil, flow.intake != nil else { return }
    if let ending = write(flow, download, least == .none ? urgency(of: flow, download) : least) {
      return end(flow, download, ending)
    }
    guard let intake = flow.intake else { return }
    if intake.held >= heldEach {
      hold(flow, .disk)
    } else if intake.held <= heldEach / 2 {
      unhold(flow, .disk)
    }
    if intake.held == 0, let failure = flow.end { finished(flow, download, failure) }
  }

  /// - Returns: why nothing more of it is of use.
  @discardableResult
  func write(_ flow: Flow, _ download: Download, _ urgency: Intake.Urgency) -> Intake.Step? {
    guard let store = download.openStore else { return nil }
    let fed = download.flows.compactMap { other in
      other === flow || other.end != nil || isOvertaken(other, by: flow) ? nil : other.intake?.position
    }
    while let intake = flow.intake {
      var next = intake
      let step = next.next(
        stored: store.claimed, total: store.representation.total, urgency, fed: fed,
        room: roomForAPiece)
      guard let step else { return nil }
      switch step {
      case .write(let range):
        guard takeRoom(for: range, of: download) else { return nil }
        store.claim(range)
        emit(.store(store.id, .write(flow.id, range)))
      case .compare(let range): emit(.store(store.id, .compare(flow.id, range)))
      case .reachedStored, .differs: return step
      }
      flow.intake = next
      store.pending += 1
      if next.arrived == next.position { flow.heldSince = nil }
    }
    return nil
  }

  /// Whether what `other` is to bring had better come by `flow`, which has reached it: it is next to nothing, or trickles.
  private func isOvertaken(_ other: Flow, by flow: Flow) -> Bool {
    if other.isTail { return true }
    guard let its = other.rateSoFar(now.instant), let own = flow.rateSoFar(now.instant) else { return false }
    return its < own / 8
  }

  private func end(_ flow: Flow, _ download: Download, _ why: Intake.Step) {
    let isBeside = download.flows.count > 1
    endFlow(flow, of: download)
    if why == .differs {
      if isBeside { download.givesRanges = false } else { download.beginsAnew = true }
    }
    touch(download)
  }

  /// The disk has written a piece.
  func wrote(_ range: Range<Int64>, of id: FlowID, _ store: Store, _ download: Download) {
    store.wrote(range)
    download.isFlushRefused = false
    download.waitsToFlush = false
    if let (flow, _) = flows[id] {
      flow.intake?.wrote(range)
      pump(flow, download)
    }
    let isAwaited = download.handles.contains { handle in
      handle.isOpening || handle.waits.values.contains { store.shows($0.range) }
    }
    if store.isComplete || isAwaited || download.flows.isEmpty {
      touch(download, queue: store.isComplete || download.flows.isEmpty)
    }
    if store.unflushed >= Limits.flushAfter {
      flush(store, after: Limits.flushAfter)
      watchRoom()
    }
  }

  /// The disk has compared a piece.
  func compared(_ range: Range<Int64>, agreed: Int64, of id: FlowID, _ download: Download) {
    guard let (flow, _) = flows[id], var intake = flow.intake else { return }
    let (isSame, isShown) = intake.compared(range, agreed: agreed)
    flow.intake = intake
    if !isSame { return end(flow, download, .differs) }
    if isShown {
      download.isConfirmed = true
      if let claim = flow.claim {
        flow.claim = nil
        learn(claim, download)
      }
      touch(download)
    }
    pump(flow, download)
  }
}
