internal import PodcastModel
internal import TransferProtocol

// What goes wrong.
extension Engine {
  /// A response gave no bytes, or no more.
  func suffer(_ fault: Fault, _ download: Download) {
    // What the user holds stays held.
    if download.record.state == .paused && download.record.error == nil { return }
    download.lastFault = now.instant
    download.record.failed = now.wall
    if let after = fault.retryAfter { download.forbiddenUntil = now.instant.adding(after) }
    // Of the same clock: it may have been set since the server said so.
    download.record.notBefore = download.forbiddenUntil.flatMap { until in
      until > now.instant ? now.wall + Int64(until.seconds(since: now.instant).rounded(.up)) : nil
    }
    download.record.error = fault.message
    switch fault.kind {
    case .passing:
      retry(download, fault)
      if let host = fault.host {
        // Behind a tracker it is the tracker's name that the next ones are known by.
        for name in Set([host, download.host]).sorted() { leaveAlone(name, fault.retryAfter) }
      }
    case .expired where askForAddress(download): break
    case .lasting, .expired:
      endFlows(of: download)
      download.record.state = .failed
    case .noRoom: wait(for: fault.message, download)
    }
    touch(download)
  }

  /// Tries again later, with jitter so that not all come at once.
  private func retry(_ download: Download, _ fault: Fault) {
    let received = download.openStore?.received ?? 0
    // Another file each time is no progress either.
    let hasProgress = received >= download.receivedAtFault + Self.progress && download.generationsBegun < 4
    download.receivedAtFault = received
    download.fruitlessAsks = 0
    let isWaitedFor = download.handles.contains { $0.isOpening || !$0.waits.isEmpty }
    var delay = random.jitter(download.backoff.failed(hasProgress: hasProgress, isWaitedFor: isWaitedFor))
    if let after = fault.retryAfter { delay = max(delay, after) }
    download.retryAt = now.instant.adding(delay)
  }

  /// Of those that wait in the background, none asks the host before that.
  private func leaveAlone(_ host: String, _ retryAfter: Double?) {
    if let until = hosts.failed(host, retryAfter: retryAfter, at: now.instant, &random) {
      timers.add(.queue, at: until)
    }
  }

  /// Asks the mounts for a fresh address, once; answers whether there is anyone to ask.
  private func askForAddress(_ download: Download) -> Bool {
    if download.isAskingForAddress { return true }
    let able = clients.filter(\.value.answersAddresses).keys.sorted()
    guard !download.hasAskedForAddress, !able.isEmpty else { return false }
    download.hasAskedForAddress = true
    let asked = download.record.request.url
    download.askedAddress = asked
    for client in able { emit(.send(client, .needAddress(download.key, url: asked))) }
    download.addressDeadline = now.instant.adding(20)
    timers.add(.address(download.key), at: now.instant.adding(20))
    return true
  }

  /// Nobody has answered for long.
  func addressIsOverdue(_ key: MediaKey) {
    guard let download = downloads[key], download.isAskingForAddress else { return }
    if download.addressDeadline <= now.instant {
      heardAddress(key, nil)
    } else {
      timers.add(.address(key), at: download.addressDeadline)
    }
  }

  /// A mount has looked for a fresh address.
  func heardAddress(_ key: MediaKey, _ url: String?) {
    guard let download = downloads[key], let asked = download.askedAddress else { return }
    download.askedAddress = nil
    if let url, url != asked {
      download.record.request.url = url
      // That was said of the old one.
      download.forbiddenUntil = nil
      download.record.notBefore = nil
      download.record.forgive()
      download.sender = nil
    } else {
      download.record.state = .failed
      download.record.failed = now.wall
      download.lastFault = now.instant
    }
    touch(download)
  }

  /// Waits for room: it is asked for again later and later, because each time costs the host a request.
  private func wait(for why: String, _ download: Download) {
    endFlows(of: download)
    if download.record.state == .paused { return }
    let received = download.received
    let hasProgress = received >= download.receivedAtFault + Self.progress
    download.receivedAtFault = received
    let later = now.instant.adding(
      download.roomBackoff.failed(hasProgress: hasProgress, isWaitedFor: false))
    guard download.isWanted else {
      download.record.forgive()
      download.retryAt = later
      return failWaits(of: download, .noRoom(why))
    }
    download.healAt = later
    download.record.state = .paused
    download.record.error = why
  }

  /// Asks again at once where a try was to be made later for want of a network; not where the server has told
  /// a time.
  func networkChanged() {
    hosts.endAll()
    reconsider()
    for download in downloads.busyInOrder where download.retryAt != nil && !isForbidden(download) {
      if let last = download.lastFault, now.instant < last.adding(1) {
        // It has just been tried: many a change of the network is followed by others.
        download.retryAt = min(download.retryAt ?? .distantFuture, last.adding(1))
      } else {
        download.retryAt = nil
      }
      download.backoff = Backoff()
      download.crawls = false
      touch(download)
    }
  }
}
