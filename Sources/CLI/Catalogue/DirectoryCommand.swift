internal import Catalog
internal import Configuration
internal import Directory
internal import EpisodeCache
internal import FeedKit
internal import Glibc
internal import HTTPKit
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

extension Command {
  static let directory = Command(
    """
    podcastfs directory fetch [--queue]
    podcastfs directory import FILE|-
    podcastfs directory status [--json]
    podcastfs directory remove

    The offline directory has all podcasts that Podcast Index knows. Where it is installed, it answers searches at once, also
    without a network.

      fetch        downloads the newest dump (1.8 GB, a new one each week) and installs it; none twice. Ctrl-C ends the command,
                   not the download: the next fetch installs it
      --queue      does not wait for the download
      import FILE  installs a dump: podcastindex_feeds.db.tgz, or the database in it. -: standard input. It needs room for both
                   for some minutes
      status       what is installed; status 1 where nothing is
      remove       removes the directory, and what has been downloaded of a dump
    """
  ) { arguments in
    let isQueued = arguments.takeFlag("--queue")
    let operands = try arguments.operands()
    var (places, settings) = try CommandSettings.load()
    // Of the mount that calls it.
    settings.directoryURL = Places.processEnvironment[DumpQuestion.addressVariable] ?? settings.directoryURL
    try places.create()
    let work = DirectoryWork(places: places, settings: settings)
    if operands[0] == "fetch" || operands[0] == "import" { DirectoryImport.cleansAtEnd(work.place) }
    DirectoryImport.clean(work.place)
    switch (operands[0], operands.count) {
    case ("fetch", 1): try work.fetch(waits: !isQueued)
    case ("import", 2): try work.importFile(operands[1])
    case ("status", 1): try work.status()
    case ("remove", 1):
      if work.directory.isInstalled { try work.directory.remove() }
      try DumpDownload(places, settings).remove()
    default: throw UsageError("directory takes fetch, import FILE, status or remove")
    }
  }
}

struct DirectoryWork {
  fileprivate let places: Places
  fileprivate let settings: Settings
  fileprivate var place: DirectoryPlace { DirectoryPlace(settings, places) }
  fileprivate var directory: PodcastDirectory { PodcastDirectory(place: place) }

  fileprivate func importFile(_ file: String) throws {
    let isInput = file == "-"
    let name = isInput ? "standard input" : String(file.split(separator: "/").last ?? "")
    let source =
      isInput ? FileDescriptor(owning: dup(STDIN_FILENO)) : try FileDescriptor(opening: file, O_RDONLY)
    do { report(try install(source, name: name)) } catch { throw failure(of: file, error) }
  }

  fileprivate func fetch(waits: Bool) throws {
    let download = try DumpDownload(places, settings)
    let shown = WebAddress(download.request.url).shown
    let begun = wallClockSeconds()
    do {
      guard let identity = try download.ask() else {
        try download.remove()
        StandardStreams.report("the newest directory is installed")
        return try StandardStreams.show(json(try directory.facts(), nil)) {}
      }
      try download.order(identity)
      if !waits {
        return StandardStreams.report("it is being downloaded: podcastfs directory fetch installs it then")
      }
      let (status, whole) = try download.wait(identity)
      let facts = try install(try download.open(status), name: shown, identity: whole.text)
      try download.remove()
      report(facts)
    } catch {
      // Another command has installed it meanwhile, and ended the download.
      if let facts = try? directory.facts(), facts.made >= begun, facts.source == shown {
        return report(facts)
      }
      if (error as? DirectoryError)?.errno == .EINVAL { try? download.remove() }
      throw failure(of: shown, error)
    }
  }

  fileprivate func status() throws {
    let facts = directory.isInstalled ? try directory.facts() : nil
    let part = try DumpDownload(places, settings).status
    StandardStreams.show(json(facts, part)) {
      if let facts {
        StandardStreams.tell(Self.text(facts))
        let imported = "imported \(CivilTime.iso8601(facts.made)) from \(PrintableText.line(facts.source))"
        StandardStreams.tell("    \(imported)\n    \(place.file)", hanging: 2)
      } else {
        StandardStreams.complain("\(DirectoryError.missing)")
      }
      if let part {
        let end =
          part.state == .cached
          ? ": podcastfs directory fetch installs it" : part.error.map { ": \($0)" } ?? ""
        StandardStreams.tell("a new dump: \(DumpDownload.text(part))\(end)", hanging: 2)
      }
    }
    if facts == nil { throw CommandEnd() }
  }

  private func install(
    _ source: borrowing FileDescriptor, name: String, identity: String? = nil
  ) throws -> DirectoryFacts {
    let line = StatusLine()
    defer { line.clear() }
    let work = DirectoryImport(
      place: place, program: FeedReader.thisProgram, minimumFree: settings.minimumFree,
      progress: { line.show(text($0)) })
    return try work.run(source, name: name, identity: identity)
  }

  private func report(_ facts: DirectoryFacts) {
    StandardStreams.show(json(facts, nil)) { StandardStreams.report(Self.text(facts)) }
  }

  private func failure(of operand: String, _ error: any Error) -> CommandFailure {
    guard let error = error as? DirectoryImport.NoRoom else { return CommandFailure(of: operand, error) }
    let reserved = error.reserved > 0 ? ", and min_free keeps \(HumanText.size(error.reserved)) of it" : ""
    return CommandFailure(
      "\(operand): not imported: for some minutes it needs \(HumanText.size(error.needed)) in \(error.folder), and only "
        + "\(HumanText.size(error.free)) is free\(reserved)")
  }

  private func text(_ stage: DirectoryImport.Stage) -> String {
    switch stage {
    case .waiting: "waiting for another import"
    case .unpacking(let bytes, let total):
      "unpacking: \(HumanText.size(bytes))" + (total.map { " of \(HumanText.size($0))" } ?? "")
    case .checking: "checking the database"
    case .reading(let count): "reading: \(HumanText.count(count, "podcast"))"
    case .writing(let count, let total): "writing: \(count) of \(HumanText.count(total, "podcast"))"
    }
  }

  /// "4,710,545 podcasts (812 MiB), newest of 2026-08-02".
  static func text(_ facts: DirectoryFacts) -> String {
    let date =
      facts.newest > 0 ? ", the newest episode is from \(CivilTime.iso8601(facts.newest).prefix(10))" : ""
    let refused =
      facts.refused > 0 ? ", \(HumanText.count(facts.refused, "row")) without a title or a feed left out" : ""
    return "\(HumanText.count(facts.podcasts, "podcast")), \(HumanText.size(facts.bytes))\(date)\(refused)"
  }

  private func json(_ facts: DirectoryFacts?, _ part: TransferStatus?) -> JSONValue {
    func time(_ seconds: Int64?) -> String? { seconds.flatMap { $0 > 0 ? CivilTime.iso8601($0) : nil } }
    return .members([
      "installed": facts != nil, "path": place.file, "podcasts": facts?.podcasts ?? 0,
      "left_out": facts?.refused ?? 0, "bytes": facts?.bytes ?? 0, "dump_date": time(facts?.newest),
      "imported": time(facts?.made), "source": facts?.source,
      "download": part.map { JSONValue.members(["bytes": $0.received, "total": $0.total]) },
    ])
  }
}

/// The download of a dump of the offline directory. The transfer daemon does it, and goes on when the command ends.
private final class DumpDownload {
  let request: TransferRequest
  private let place: DirectoryPlace
  private let settings: Settings
  private let client: TransferClient
  private let changes = Monitor(0)

  init(_ places: Places, _ settings: Settings) throws {
    (place, self.settings) = (DirectoryPlace(settings, places), settings)
    let address = settings.directoryURL ?? DumpQuestion.usualAddress
    request = TransferRequest(
      // A key of its own, so that an episode with the same address is another download.
      key: MediaKey(address: WebAddress("directory:" + address)), url: address, title: "offline directory",
      show: WebAddress(address).host ?? "", fileName: "", allowsPrivateHosts: settings.directoryURL != nil,
      userAgent: settings.effectiveUserAgent, isEpisode: false)
    // Without a mount the daemon knows no settings.
    client = try TransferClient(
      places: places, settings: settings, isMount: MountServer.mountPoints(places: places).isEmpty)
    client.observe { [changes] _ in changes.withLockNotifying { $0 += 1 } }
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
      guard let status, ![.paused, .remote].contains(status.state) else {
        throw CommandFailure("the download was cancelled")
      }
      if status.state == .failed { throw CommandFailure(status.error ?? "the download failed") }
      if status.state == .cached {
        let sent = identity(of: status)
        return (status, sent?.isCertain ?? false ? sent ?? dump : dump)
      }
      line.show(Self.text(status))
      if let why = client.daemonFailure { throw CommandFailure(why) }
      if status.state == .queued, let why = status.error, why != reason {
        line.clear()
        StandardStreams.complain(StandardStreams.waiting(why))
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
  static func text(_ status: TransferStatus) -> String {
    let total = status.total.map { " of \(HumanText.size($0))" } ?? ""
    let percent = status.progressText.map { ", \($0) %" } ?? ""
    let left = status.eta.map { ", \(HumanText.duration($0)) left" } ?? ""
    return "\(HumanText.size(status.received))\(total) downloaded\(percent)\(left)"
  }
}

/// One line on the terminal's standard error that is drawn again in its place; nothing where that is no terminal.
private final class StatusLine {
  private var shown: MonotonicTime?
  private let isTerminal = Terminal.errors.isTerminal && !StandardStreams.isQuiet

  func show(_ text: String) {
    guard isTerminal, shown.map({ MonotonicTime.now.seconds(since: $0) > 0.1 }) ?? true else { return }
    shown = .now
    draw(ColumnText.cut(text, Terminal.errors.size.columns - 1))
  }

  func clear() { if shown != nil { draw("") } }
  private func draw(_ line: String) { StandardStreams.write("\r\(line)\u{1b}[K", to: STDERR_FILENO) }
}
