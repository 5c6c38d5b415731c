internal import TransferProtocol

// Orders that can't be remembered: the disk that the store is on is full.
extension Engine {
  /// Undoes an order: who gave it hears that it was refused. What was dropped is gone.
  func takeBack(_ order: OrderBook.Order) {
    guard let before = order.before, let download = downloads[order.key] else { return }
    download.record.isKept = before.isKept
    download.isToBeForgotten = false
    download.isWantedAgain = false
    defer { touch(download) }
    // What has come meanwhile has come, and what has gone has gone.
    guard before.state != .cached, download.record.state != .cached, before.state != download.record.state
    else { return }
    if before.state == .queued || before.state == .downloading {
      queue(download)
    } else {
      beginLull(for: download)
      endFlows(of: download)
      download.askedAddress = nil
      download.retryAt = nil
      download.record.state = before.state
      download.record.error = before.error
      download.record.failed = before.failed
      download.record.notBefore = before.notBefore
    }
    download.record.order = before.order
  }

  /// Whether it is dropped when its files are, though the store can't be told: what is wholly here makes room by that.
  /// Not where the store has it as wanted or held, or may have: the next daemon would go by that.
  func isDroppedByItsFiles(_ download: Download) -> Bool {
    let isOnItsWay = orders.saving?.keys.contains(download.key) == true
    guard let saved = download.saved else { return true }
    return !isOnItsWay && !download.isUnsaved && (saved.state == .remote || saved.state == .cached)
  }
}
