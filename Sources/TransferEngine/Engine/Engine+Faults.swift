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
    download.refusal = fault.readerErrno.map { (TransferFailure($0, fault.message), now.instant) }
    let kind = fault.kind == .doubtful && isCertain(of: download) ? .lasting : fault.kind
    switch kind {
    case .passing, .doubtful:
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

  /// Whether a doubtful failure is the host's own: it was seen in several networks, or on several days.
  private func isCertain(of download: Download) -> Bool {
    let age = now.wall - download.record.doubted
    let isElsewhere = download.doubtedNetwork != network && age >= Self.timeInNetwork
    if download.record.doubts == 0 || isElsewhere || age >= Self.day {
      download.record.doubts += 1
      download.record.doubted = now.wall
      download.doubtedNetwork = network
    }
    return download.record.doubts >= Self.doubts
  }

  /// Networks or days; seconds in which a machine joins one network, step by step; seconds.
  private static let doubts: Int64 = 3
  private static let timeInNetwork: Int64 = 60
  private static let day: Int64 = 86_400

  /// Why a reader who has nothing of the episode has nothing to wait for: its host could not be reached at all, or sent
  /// no audio, since `begun` or a moment before.
  func refusal(of download: Download, since begun: Instant) -> TransferFailure? {
    guard let refusal = download.refusal, download.received == 0 else { return nil }
    return refusal.at >= begun || isRefusing(download) ? refusal.failure : nil
  }

  /// Whether that was just now, so that another reader is no reason to try again.
  func isRefusing(_ download: Download) -> Bool {
    guard let refusal = download.refusal, download.received == 0 else { return false }
    return now.instant < refusal.at.adding(Self.refusalTime)
  }

  private static let refusalTime = 10.0

  /// Tries again later, with jitter so that not all come at once.
  private func retry(_ download: Download, _ fault: Fault) {
    let received = download.openStore?.received ?? 0
    // Another file each time is no progress either.
    let hasProgress = received >= download.receivedAtFault + Self.progress && download.generationsBegun < 4
    download.receivedAtFault = received
    download.fruitlessAsks = 0
    let isWaitedFor = download.handles.contains { $0.isOpening || !$0.waits.isEmpty }
    var delay = random.jitter(
      download.backoff.failed(
        hasProgress: hasProgress, isWaitedFor: isWaitedFor, isDoubtful: fault.kind == .doubtful))
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
    network += 1
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
      download.refusal = nil
      touch(download)
    }
  }
}
