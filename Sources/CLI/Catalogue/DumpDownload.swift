internal import Catalog
internal import Configuration
internal import Directory
internal import EpisodeCache
internal import Glibc
internal import HTTPKit
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

/// The download of a dump of the offline directory. The transfer daemon does it, and goes on when the command ends.
final class DumpDownload {
  private let place: DirectoryPlace
  private let settings: Settings
  private let request: TransferRequest
  private let client: TransferClient
  private let changes: Monitor<Int>

  init(_ places: Places, _ settings: Settings) throws {
    (place, self.settings) = (DirectoryPlace(settings, places), settings)
    let address = settings.dumpAddress
    request = TransferRequest(
      // A key of its own, so that an episode with the same address is another download.
      key: MediaKey(address: WebAddress("directory:" + address)), url: address, title: "offline directory",
      show: WebAddress(address).host ?? "", fileName: "", allowsPrivateHosts: settings.directoryURL != nil,
      userAgent: settings.effectiveUserAgent, isEpisode: false)
    // Without a mount the daemon knows no settings.
    client = try TransferClient(
      places: places, settings: settings, isMount: MountServer.mountPoints(places: places).isEmpty)
    let changes = Monitor(0)
    self.changes = changes
    client.observe { _ in changes.withLockNotifying { $0 += 1 } }
    client.waitUntilCurrent(until: .after(2))
  }

  deinit { client.stop() }

  /// The state of the download; nil where nothing has been downloaded or ordered.
  var status: TransferStatus? {
    client.status(of: request.key).flatMap { $0.state == .remote && $0.received == 0 ? nil : $0 }
  }

  /// Asks the server which dump it has.
  /// - Returns: nil where that is installed.
  func ask() throws -> DumpIdentity? {
    var question = HTTPRequest(url: request.url, settings)
    question.allowsPrivateHosts = request.allowsPrivateHosts
    let http = HTTPClient(name: "directory-http")
    defer { http.stop() }
    return try DumpQuestion.ask(
      question, installed: (try? PodcastDirectory(place: place).facts())?.identity, http)
  }

  /// Has the daemon download the dump, unless it is here.
  func order(_ dump: DumpIdentity) throws {
    if let status, status.state == .cached {
      if dump.isCertain, identity(of: status) == dump {
        // Where the daemon's store was lost, it took this for an episode.
        return status.isEpisode ? try client.wait(for: .start(request)) : ()
      }
      try remove()
    }
    try DirectoryImport.checkRoom(
      forArchive: dump.length ?? 0, received: status?.received ?? 0, at: place,
      minimumFree: settings.minimumFree)
    try client.wait(for: .start(request))
  }

  /// Waits until the dump is complete, and shows the progress.
  /// - Returns: the download, and which dump it is, as the server that sent it says.
  func wait(_ dump: DumpIdentity) throws -> (TransferStatus, DumpIdentity) {
    let line = StatusLine()
    defer { line.clear() }
    var reason: String?
    while true {
      let seen = changes.withLock { $0 }
      guard let status else { throw CommandFailure("the download was cancelled") }
      switch status.state {
      case .cached:
        let sent = identity(of: status)
        return (status, sent?.isCertain ?? false ? sent ?? dump : dump)
      case .failed: throw CommandFailure(status.error ?? "the download failed")
      case .paused, .remote: throw CommandFailure("the download was cancelled")
      case .queued, .downloading: line.show(Self.words(status))
      }
      if let why = client.daemonFailure { throw CommandFailure(why) }
      if status.state == .queued, let why = status.error, why != reason {
        line.clear()
        StandardStreams.complain(why.hasPrefix("waiting") ? why : "waiting: \(why)")
        reason = why
      }
      // A daemon that has died is started again.
      if status.state == .queued { client.resumeUnfinished() }
      _ = changes.wait(until: .after(5)) { $0 != seen ? true : nil }
    }
  }

  func open(_ status: TransferStatus) throws -> FileDescriptor {
    try client.layout.openData(status.key, status.generation, O_RDONLY)
  }

  /// Removes the downloaded bytes of this dump and of others. Where the daemon's store was lost, it takes them for episodes.
  func remove() throws {
    let others = client.allStatuses().filter { !$0.isEpisode && $0.key != request.key }
    for key in others.map(\.key) + [request.key] { try client.wait(for: .forget(key)) }
  }

  private func identity(of status: TransferStatus) -> DumpIdentity? {
    let journal = RangeJournal(reading: client.layout.journal(status.key, status.generation))
    return journal.representation.map { DumpIdentity(url: request.url, $0) }
  }

  /// "412 MiB of 1.70 GiB downloaded, 24 %, 3 min left".
  static func words(_ status: TransferStatus) -> String {
    let total = status.total.map { " of \(HumanText.size($0))" } ?? ""
    let percent = status.progressText.map { ", \($0) %" } ?? ""
    let left = status.eta.map { ", \(HumanText.duration($0)) left" } ?? ""
    return "\(HumanText.size(status.received))\(total) downloaded\(percent)\(left)"
  }
}

extension Settings {
  var dumpAddress: String { directoryURL ?? DumpQuestion.usualAddress }
}
