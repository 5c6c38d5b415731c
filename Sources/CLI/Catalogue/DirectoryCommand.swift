internal import Catalog
internal import Configuration
internal import Directory
internal import FeedKit
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

enum DirectoryCommand: Command {
  static let usage = """
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

  static func run(_ arguments: inout ArgumentList) throws {
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

  /// "4,710,545 podcasts (812 MiB), newest of 2026-08-02".
  static func installed(_ facts: DirectoryFacts) -> String {
    let date =
      facts.newest > 0 ? ", the newest episode is from \(CivilTime.iso8601(facts.newest).prefix(10))" : ""
    let refused =
      facts.refused > 0 ? ", \(HumanText.count(facts.refused, "row")) without a title or a feed left out" : ""
    return "\(HumanText.count(facts.podcasts, "podcast")), \(HumanText.size(facts.bytes))\(date)\(refused)"
  }
}

private struct DirectoryWork {
  let places: Places
  let settings: Settings

  var place: DirectoryPlace { DirectoryPlace(settings, places) }
  var directory: PodcastDirectory { PodcastDirectory(place: place) }

  func importFile(_ file: String) throws {
    let isInput = file == "-"
    let name = isInput ? "standard input" : String(file.split(separator: "/").last ?? "")
    let source =
      isInput ? FileDescriptor(owning: dup(STDIN_FILENO)) : try FileDescriptor(opening: file, O_RDONLY)
    do { report(try install(source, name: name)) } catch { throw failure(of: file, error) }
  }

  func fetch(waits: Bool) throws {
    let shown = WebAddress(settings.dumpAddress).shown
    let download = try DumpDownload(places, settings)
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

  func status() throws {
    let facts = directory.isInstalled ? try directory.facts() : nil
    let part = try DumpDownload(places, settings).status
    StandardStreams.show(json(facts, part)) {
      if let facts {
        StandardStreams.tell(DirectoryCommand.installed(facts))
        let imported = "imported \(CivilTime.iso8601(facts.made)) from \(PrintableText.line(facts.source))"
        StandardStreams.tell("    \(imported)\n    \(place.file)", hanging: 2)
      } else {
        StandardStreams.complain("\(DirectoryError.missing)")
      }
      if let part {
        let end =
          part.state == .cached
          ? ": podcastfs directory fetch installs it" : part.error.map { ": \($0)" } ?? ""
        StandardStreams.tell("a new dump: \(DumpDownload.words(part))\(end)", hanging: 2)
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
      progress: { line.show(words($0)) })
    return try work.run(source, name: name, identity: identity)
  }

  private func report(_ facts: DirectoryFacts) {
    StandardStreams.show(json(facts, nil)) { StandardStreams.report(DirectoryCommand.installed(facts)) }
  }

  private func failure(of operand: String, _ error: any Error) -> CommandFailure {
    guard let error = error as? DirectoryImport.NoRoom else { return CommandFailure(of: operand, error) }
    let reserved = error.reserved > 0 ? ", and min_free keeps \(HumanText.size(error.reserved)) of it" : ""
    return CommandFailure(
      "\(operand): not imported: for some minutes it needs \(HumanText.size(error.needed)) in \(error.folder), and only "
        + "\(HumanText.size(error.free)) is free\(reserved)")
  }

  private func words(_ stage: DirectoryImport.Stage) -> String {
    switch stage {
    case .waiting: "waiting for another import"
    case .unpacking(let bytes, let total):
      "unpacking: \(HumanText.size(bytes))" + (total.map { " of \(HumanText.size($0))" } ?? "")
    case .checking: "checking the database"
    case .reading(let count): "reading: \(HumanText.count(count, "podcast"))"
    case .writing(let count, let total): "writing: \(count) of \(HumanText.count(total, "podcast"))"
    }
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

/// One line on the terminal's standard error that is drawn again in its place; nothing where that is no terminal.
final class StatusLine {
  private var shown: MonotonicTime?
  private let isTerminal = StandardStreams.errorIsTerminal && !StandardStreams.isQuiet

  func show(_ text: String) {
    guard isTerminal, shown.map({ MonotonicTime.now.seconds(since: $0) > 0.1 }) ?? true else { return }
    shown = .now
    draw(ColumnText.cut(text, Terminal.errors.size.columns - 1))
  }

  func clear() { if shown != nil { draw("") } }

  private func draw(_ line: String) { StandardStreams.write("\r\(line)\u{1b}[K", to: StandardStreams.errors) }
}
