internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

enum StatusCommand: Command {
  static let name = "status"
  static let summary = "show the downloads"
  static let usage = """
    podcastfs status [--json] [--watch]

    Shows all downloads with progress, rate and time left. It needs no mount.

      --watch  continues until you interrupt it; with --json, a line for each change
      --json   the same as .podcastfs/status.json in a mount
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let options = Options(asJSON: arguments.takeFlag("--json"), watches: arguments.takeFlag("--watch", "-w"))
    guard try arguments.operands().isEmpty else { throw UsageError("status takes no arguments") }
    let (places, settings) = try CommandSettings.load()
    try places.create()
    if options.watches { StandardStreams.endWhenUnread() }
    let changes = Monitor(0)
    let client = try TransferClient(places: places, settings: settings, isMount: false)
    client.observe { _ in changes.withLockNotifying { $0 += 1 } }
    // After a reboot this is the command that lets downloads go on.
    client.resumeUnfinished()
    client.waitUntilCurrent(until: .after(2))
    // Where a daemon can't start, the numbers above are those of the last one.
    var said: String?
    var report = Report(options: options, cacheLimit: settings.cacheSize, names: KnownPodcasts(in: places))
    repeat {
      let seen = changes.withLock { $0 }
      report.show(client.allStatuses())
      if let why = client.daemonFailure, why != said {
        StandardStreams.complain(why)
        said = why
      }
      if options.watches {
        // A daemon that starts meanwhile cannot notify this process, which is not connected.
        _ = changes.wait(until: .after(2)) { $0 != seen ? true : nil }
        client.waitUntilCurrent(until: .after(2))
      }
    } while options.watches && !StandardStreams.isCut
    client.stop()
    return 0
  }

  struct Options {
    var asJSON: Bool
    var watches: Bool
  }

  /// Prints the transfers, in the way that was asked for.
  private struct Report {
    let options: Options
    let cacheLimit: Int64
    private var names: KnownPodcasts
    private var display: LiveDisplay?
    private var last = ""

    init(options: Options, cacheLimit: Int64, names: KnownPodcasts) {
      self.options = options
      self.cacheLimit = cacheLimit
      self.names = names
      if options.watches, !options.asJSON, Terminal.output.isTerminal { display = LiveDisplay(.output) }
    }

    mutating func show(_ statuses: [TransferStatus]) {
      let statuses = names.complete(statuses)
      if options.asJSON {
        let json = StatusReport.json(statuses, version: podcastfsVersion, cacheLimit: cacheLimit)
        return printIfNew(options.watches ? json.compactText : json.indentedText)
      }
      let list = TransferList(statuses, folder: names.folder)
      if display != nil {
        display?.draw(footer: [list.summary]) { list.entries(columns: $0) }
      } else if Terminal.output.isTerminal {
        let (columns, rows) = Terminal.output.size
        // The summary and the prompt take a row each, or two.
        let lines = LiveDisplay.screen(columns, rows - 2, footer: []) { list.entries(columns: $0) }
        for line in lines { StandardStreams.print(Style.output.colored(line.text, line.color)) }
        StandardStreams.tell(list.summary, hanging: 2)
      } else {
        printIfNew(list.text)
      }
    }

    private mutating func printIfNew(_ text: String) {
      if text != last { StandardStreams.print(text) }
      last = text
    }
  }
}
