internal import Catalog
internal import Configuration
internal import Directory
internal import FeedKit
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

enum DirectoryCommand: Command {
  static let name = "directory"
  static let summary = "search millions of podcasts without the network"
  static let worksOnMounts = false
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
      --json       {"installed", "path", "podcasts", "left_out", "bytes", "dump_date", "imported",
                   "source", "download": {"bytes", "total"}}
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let isQueued = arguments.takeFlag("--queue")
    let operands = try arguments.operands()
    let (places, settings) = try CommandSettings.load()
    let place = DirectoryPlace(settings, places)
    if operands.first == "fetch" || operands.first == "import" { DirectoryImport.cleansAtEnd(place) }
    DirectoryImport.clean(place)
    switch (operands.first, operands.count) {
    case ("fetch", 1):
      var settings = settings
      // Of the mount that calls it.
      let address = Places.processEnvironment[DumpQuestion.addressVariable]
      settings.directoryURL = address ?? settings.directoryURL
      return try fetch(place, places, settings, isJSON, isQueued: isQueued)
    case ("import", 2): return try importFile(operands[1], place, places, settings, isJSON)
    case ("status", 1): return try status(place, places, settings, isJSON)
    case ("remove", 1):
      let directory = PodcastDirectory(place: place)
      if directory.isInstalled { try directory.remove() }
      try DumpDownload(place, places, settings).remove()
      return 0
    default: throw UsageError("directory takes fetch, import FILE, status or remove")
    }
  }

  private static func importFile(
    _ file: String, _ place: DirectoryPlace, _ places: Places, _ settings: Settings, _ isJSON: Bool
  ) throws -> Int32 {
    try places.create()
    let source = try open(file)
    let name = file == "-" ? "standard input" : String(file.split(separator: "/").last ?? "")
    do {
      let facts = try DirectoryWork.run(source, name: name, place, settings)
      report(facts, place, isJSON)
    } catch {
      throw DirectoryWork.failure(of: file, error)
    }
    return 0
  }

  private static func fetch(
    _ place: DirectoryPlace, _ places: Places, _ settings: Settings, _ isJSON: Bool, isQueued: Bool
  ) throws -> Int32 {
    let shown = WebAddress(settings.dumpAddress).shown
    let download = try DumpDownload(place, places, settings)
    let begun = wallClockSeconds()
    do {
      guard let identity = try download.ask() else {
        try download.remove()
        if isJSON { return try status(place, places, settings, true) }
        StandardStreams.report("the newest directory is installed")
        return 0
      }
      try download.order(identity)
      if isQueued {
        StandardStreams.report("it is being downloaded: podcastfs directory fetch installs it then")
        return 0
      }
      let (status, whole) = try download.wait(identity)
      let facts = try DirectoryWork.run(
        download.open(status), name: shown, identity: whole.text, place, settings)
      try download.remove()
      report(facts, place, isJSON)
    } catch {
      // Another command has installed it meanwhile, and ended the download.
      if let facts = try? PodcastDirectory(place: place).facts(), facts.made >= begun, facts.source == shown {
        report(facts, place, isJSON)
        return 0
      }
      if (error as? DirectoryError)?.errno == .EINVAL { try? download.remove() }
      throw DirectoryWork.failure(of: shown, error)
    }
    return 0
  }

  private static func report(_ facts: DirectoryFacts, _ place: DirectoryPlace, _ isJSON: Bool) {
    if isJSON { return StandardStreams.print(json(facts, nil, place.file).indentedText) }
    StandardStreams.report(installed(facts))
  }

  private static func open(_ file: String) throws -> FileDescriptor {
    if file == "-" { return FileDescriptor(owning: dup(STDIN_FILENO)) }
    return try FileDescriptor(opening: file, O_RDONLY)
  }

  /// "4,710,545 podcasts (812 MiB), newest of 2026-08-02".
  static func installed(_ facts: DirectoryFacts) -> String {
    let date =
      facts.newest > 0 ? ", the newest episode is from \(CivilTime.iso8601(facts.newest).prefix(10))" : ""
    let refused =
      facts.refused > 0 ? ", \(HumanText.count(facts.refused, "row")) without a title or a feed left out" : ""
    return "\(HumanText.count(facts.podcasts, "podcast")), \(HumanText.size(facts.bytes))\(date)\(refused)"
  }

  private static func status(
    _ place: DirectoryPlace, _ places: Places, _ settings: Settings, _ isJSON: Bool
  ) throws -> Int32 {
    let directory = PodcastDirectory(place: place)
    let facts = directory.isInstalled ? try directory.facts() : nil
    let part = try DumpDownload(place, places, settings).status
    if isJSON {
      StandardStreams.print(json(facts, part, place.file).indentedText)
    } else if let facts {
      StandardStreams.tell(installed(facts))
      let imported = "imported \(CivilTime.iso8601(facts.made)) from \(PrintableText.line(facts.source))"
      StandardStreams.tell("    \(imported)\n    \(directory.place.file)", hanging: 2)
    } else {
      StandardStreams.complain("\(DirectoryError.missing)")
    }
    if let part, !isJSON {
      let end =
        part.state == .cached
        ? ": podcastfs directory fetch installs it" : part.error.map { ": \($0)" } ?? ""
      StandardStreams.tell("a new dump: \(DumpDownload.words(part))\(end)", hanging: 2)
    }
    return facts == nil ? 1 : 0
  }

  private static func json(
    _ facts: DirectoryFacts?, _ part: TransferStatus?, _ path: String
  ) -> JSONValue {
    func time(_ seconds: Int64?) -> JSONValue {
      seconds.flatMap { $0 > 0 ? CivilTime.iso8601($0) : nil }.json
    }
    return .members([
      "installed": facts != nil, "path": path, "podcasts": facts?.podcasts ?? 0,
      "left_out": facts?.refused ?? 0, "bytes": facts?.bytes ?? 0, "dump_date": time(facts?.newest),
      "imported": time(facts?.made), "source": facts?.source,
      "download": part.map {
        JSONValue.members(["bytes": $0.received, "total": $0.total])
      } ?? .null,
    ])
  }
}

enum DirectoryWork {
  static func run(
    _ source: borrowing FileDescriptor, name: String, identity: String? = nil, _ place: DirectoryPlace,
    _ settings: Settings
  ) throws -> DirectoryFacts {
    let line = StatusLine()
    defer { line.clear() }
    let work = DirectoryImport(
      place: place, program: FeedReader.thisProgram, minimumFree: settings.minimumFree,
      progress: { line.show(words($0)) })
    return try work.run(source, name: name, identity: identity)
  }

  static func failure(of operand: String, _ error: any Error) -> CommandFailure {
    guard let error = error as? DirectoryImport.NoRoom else { return CommandFailure(of: operand, error) }
    let reserved = error.reserved > 0 ? ", and min_free keeps \(HumanText.size(error.reserved)) of it" : ""
    return CommandFailure(
      "\(operand): not imported: for some minutes it needs \(HumanText.size(error.needed)) in \(error.folder), and only "
        + "\(HumanText.size(error.free)) is free\(reserved)")
  }

  private static func words(_ stage: DirectoryImport.Stage) -> String {
    switch stage {
    case .waiting: "waiting for another import"
    case .unpacking(let bytes, let total):
      "unpacking: \(HumanText.size(bytes))" + (total.map { " of \(HumanText.size($0))" } ?? "")
    case .checking: "checking the database"
    case .reading(let count): "reading: \(HumanText.count(count, "podcast"))"
    case .writing(let count, let total): "writing: \(count) of \(HumanText.count(total, "podcast"))"
    }
  }
}

/// One line on the terminal's standard error that is drawn again in its place; nothing where that is no terminal.
final class StatusLine {
  private var shown: MonotonicTime?
  private let isTerminal = StandardStreams.errorIsTerminal && !StandardStreams.isQuiet

  func show(_ text: String) {
    guard isTerminal, shown.map({ MonotonicTime.now.seconds(since: $0) > 0.1 }) ?? true else { return }
    shown = .now
    let line = ColumnText.cut(PrintableText.line(text), Terminal.errors.size.columns - 1)
    StandardStreams.write("\r\(line)\u{1b}[K", to: StandardStreams.errors)
  }

  func clear() { if shown != nil { StandardStreams.write("\r\u{1b}[K", to: StandardStreams.errors) } }
}
