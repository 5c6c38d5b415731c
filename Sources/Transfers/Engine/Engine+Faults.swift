internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

// What goes wrong.
extension Engine {
  /// A response gave no bytes, or no more.
  func suffer(_ fault: Fault, _ download: Download) {
    download.lastFault = .now
    download.record.failed = wallClockSeconds()
    download.record.error = fault.message
    switch fault.kind {
    case .passing:
      retry(download, fault)
      if let host = fault.host {
        // Behind a tracker it is the tracker's name that the next ones are known by.
        for name in Set([host, download.host]) { leaveAlone(name, fault.retryAfter) }
      }
    case .expired where askForAddress(download): break
    case .lasting, .expired:
      endFlows(of: download)
      download.record.state = .failed
    case .noRoom: hold(download, fault.message)
    }
    touch(download)
  }

  /// Tries again later: soon where bytes came since the last time, else later and later, with jitter so that
  /// not all come at once.
  private func retry(_ download: Download, _ fault: Fault) {
    let received = download.writer?.received ?? 0
    // Another file each time is no progress either.
    let hasProgress = received >= download.receivedAtFault + Self.progress && download.generationsBegun < 4
    if hasProgress { download.attempts = 0 }
    download.receivedAtFault = received
    download.attempts += 1
    download.fruitlessAsks = 0
    var delay = hasProgress ? 0.2 : min(0.5 * pow2(download.attempts - 1), 300)
    let hasReader = download.handles.contains { $0.isOpening || !$0.waits.isEmpty }
    if hasReader { delay = min(delay, 5) }
    delay *= Double.random(in: 0.75...1.25)
    if let after = fault.retryAfter {
      delay = max(delay, after)
      download.forbiddenUntil = .after(after)
      download.record.notBefore = wallClockSeconds() + Int64(after.rounded(.up))
    }
    download.retryAt = .after(delay)
  }

  /// Of those that wait in the background, none asks the host before that.
  private func leaveAlone(_ host: String, _ retryAfter: Double?) {
    guard let until = hosts.failed(host, retryAfter: retryAfter) else { return }
    loop.schedule(at: until) { self.reconsider() }
  }

  private func pow2(_ exponent: Int) -> Double { Double(1 << min(max(exponent, 0), 10)) }

  /// Asks the mounts for a fresh address, once; answers whether there is anyone to ask.
  private func askForAddress(_ download: Download) -> Bool {
    if download.isAskingForAddress { return true }
    let clients = clients.values.filter(\.answersAddresses)
    guard !download.hasAskedForAddress, !clients.isEmpty else { return false }
    download.hasAskedForAddress = true
    let asked = download.record.request.url
    download.askedAddress = asked
    for client in clients { client.send(.needAddress(download.key, url: asked)) }
    loop.schedule(at: .after(20)) {
      if download.askedAddress == asked { self.heardAddress(download.key, nil) }
    }
    return true
  }

  /// A mount has looked for a fresh address.
  func heardAddress(_ key: MediaKey, _ url: String?) {
    guard let download = downloads[key], let asked = download.askedAddress else { return }
    download.askedAddress = nil
    if let url, url != asked {
      download.record.request.url = url
      download.record.error = nil
      download.record.failed = nil
    } else {
      download.record.state = .failed
      download.record.failed = wallClockSeconds()
      download.lastFault = .now
    }
    touch(download)
  }

  /// The disk refused.
  func fail(_ download: Download, _ error: PosixError) {
    switch error.errno {
    case _ where Self.isFull(error): suffer(Fault(.noRoom, Self.noSpaceLeft), download)
    case .EFBIG: suffer(Fault(.lasting, "too large a file"), download)
    default: suffer(Fault(.lasting, "\(error)"), download)
    }
  }

  static func isFull(_ error: PosixError) -> Bool { [.ENOSPC, .EDQUOT].contains(error.errno) }

  /// Waits for room.
  private func hold(_ download: Download, _ why: String) {
    endFlows(of: download)
    guard download.isWanted else {
      download.record.error = nil
      download.record.failed = nil
      return failWaits(of: download, TransferFailure(.ENOSPC, why))
    }
    download.record.state = .paused
    download.record.error = why
  }
}
