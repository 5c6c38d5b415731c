internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension TransferCore {
  static let forgetAfter = 60.0

  mutating func publish(_ keys: Set<MediaKey>) {
    var news: [MediaKey] = []
    for key in downloads.inOrder(keys) {
      change(key, isQuiet: true) { core, download in
        if core.publish(&download) { news.append(key) }
        if download.isWorthSaving { core.log.note(changed: key) }
      }
    }
    if !news.isEmpty { emit(.tell(news)) }
  }

  private mutating func publish(_ download: inout Download) -> Bool {
    let (status, before) = (download.status, download.told.status)
    // At the end of what came, short as it was.
    let isCountDue = download.fetches.isEmpty && status.received != before?.received ?? 0
    defer { download.told.isProgressDue = false }
    download.record.state = status.state
    if download.fetches.isEmpty { download.record.received = download.received }
    guard !status.isSame(as: before) || download.told.isProgressDue || isCountDue else { return false }
    if status.stage != before?.stage ?? .absent || status.generation != before?.generation ?? 0 {
      download.record.changed = now.wallNanoseconds
    }
    if status.state == .failed, let error = status.error, error != before?.error || before?.state != .failed {
      emit(.log("cannot download \(status.show) – \(status.title): \(error)"))
    }
    download.told.status = download.status
    return true
  }

  /// Gives the disk what is new, unless it is still busy with the last commit.
  mutating func commit() {
    // Of what the store does not know, files may be found in a moment.
    let unlisted = phase == .listing ? log.ordered.filter { !downloads.hasRow($0) } : []
    let held = space.evicting.union(unlisted)
    guard let next = log.next(at: now.instant, held: held) else { return }
    var rows: [TransferStatus] = []
    var removed: [MediaKey] = []
    for key in next.rows {
      let orders = next.orders.filter { $0.key == key }
      // An order for an episode that nothing is known of.
      if downloads.record(of: key) == nil, let request = orders.lazy.compactMap(\.order.request).first {
        change(request) { _, _ in }
      }
      guard downloads.record(of: key) != nil else {
        removed.append(key)
        continue
      }
      change(key, isQuiet: true) { core, download in
        // Orders act when they are on the disk: what is saved is what they will make of it.
        var planned = download
        for order in orders { planned.obey(order, at: core.now.instant) }
        if !planned.isWorthARow {
          removed.append(key)
          download.told.row = nil
        } else if planned.isWorthSaving || !orders.isEmpty {
          rows.append(planned.row)
          download.told.row = planned.row
        }
      }
    }
    emit(.save(rows, removing: removed))
  }

  mutating func saved(_ failure: TransferFailure?) {
    guard let batch = log.saved(failed: failure != nil, at: now.instant) else { return }
    for order in batch.orders {
      change(order.key) { core, download in
        if failure == nil { core.obey(order, &download) } else { download.refused(at: core.now.instant) }
      }
      answer(order.name, failure)
    }
    if failure == nil { return rest(Set(batch.rows)) }
    // The store has neither the rows nor what the orders would have made of them.
    for key in batch.rows { change(key) { _, download in download.told.row?.changed = -1 } }
    timers.add(.queue, at: now.instant.adding(5))
  }

  /// Leaves downloads that nothing is to be done for to their rows.
  /// - Parameter forgetting: whether those go that have no row. Not before everybody has heard of it.
  mutating func rest(_ keys: Set<MediaKey>, forgetting: Bool = false) {
    for key in keys {
      guard let download = downloads.active[key], !download.isBusy, !download.isDirty, !log.isPending(key)
      else {
        continue
      }
      if download.told.row == nil && !forgetting {
        timers.add(.forget, at: now.instant.adding(Self.forgetAfter))
      } else {
        downloads.rest(key)
        scheduler.note(key, nil, isPlaced: false)
      }
    }
  }
}

extension TransferStatus {
  /// Equal but for what changes all the time while bytes come.
  fileprivate func isSame(as other: TransferStatus?) -> Bool {
    guard var other else { return false }
    (other.received, other.rate, other.eta) = (received, rate, eta)
    (other.changed, other.tries) = (changed, tries)
    return self == other
  }
}
