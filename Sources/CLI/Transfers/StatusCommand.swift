internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import TransferClient
package import TransferProtocol

enum StatusCommand: Command {
  static let name = "status"
  static let summary = "show the downloads"
  static let usage = """
    podcastfs status [--json] [--watch]

    Shows all downloads with progress, rate and time left. It needs no mount.

      --watch  continues until you interrupt it; with --json, a line for each change
      --json   the same as .podcastfs/status.json in a mount
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let options = Options(asJSON: arguments.takeFlag("--json"), watches: arguments.takeFlag("--watch", "-w"))
    guard try arguments.operands().isEmpty else { throw UsageError("status takes no arguments") }
    let (places, settings) = try CommandSettings.load()
    try places.create()
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

  private struct Report {
    let options: Options
    let cacheLimit: Int64
    private var names: KnownPodcasts
    private var display: LiveDisplay?
    private var last = ""

    init(options: Options, cacheLimit: Int64, names: KnownPodcasts) {
      (self.options, self.cacheLimit, self.names) = (options, cacheLimit, names)
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

package struct TransferList {
  private let statuses: [TransferStatus]
  private let folder: (TransferStatus) -> String

  /// - Parameter folder: what a download's podcast is called.
  package init(_ statuses: [TransferStatus], folder: @escaping (TransferStatus) -> String) {
    self.statuses = statuses
    self.folder = folder
  }

  /// Those that are neither remote nor complete.
  private var lines: [ProgressLine] {
    StatusReport.ordered(statuses).filter { $0.state != .cached }.map { status in
      ProgressLine(status, show: folder(status))
    }
  }

  package func entries(columns: Int) -> [LiveDisplay.Entry] {
    lines.map { .init($0.lines(columns: columns), $0.color) }
  }

  var text: String { (lines.map(\.text) + [summary]).joined(separator: "\n") }

  package var summary: String {
    let cached = statuses.count { $0.state == .cached && $0.isEpisode }
    let size = HumanText.size(statuses.reduce(0) { $0 + $1.budgeted })
    let counts: [String] = [.downloading, .queued, .paused, .failed].compactMap { (state: TransferState) in
      let count = statuses.count { $0.state == state }
      return count > 0 ? "\(count) \(state.name)\(state == .downloading ? totals : "")" : nil
    }
    return (counts + ["\(HumanText.count(cached, "episode")) downloaded (\(size) in the cache)"]).joined(
      separator: ", ")
  }

  /// The rate of all that run and the time that all that is wanted takes, as far as both are known.
  private var totals: String {
    let wanted = statuses.filter { $0.state == .downloading || $0.state == .queued }
    let words = DownloadTotals(wanted.map { ProgressLine($0, show: "") }).pace
    return words.isEmpty ? "" : " (\(words.joined(separator: ", ")))"
  }
}

/// Facts of the catalogue for downloads: the size that the feed gives, and the name of the podcast's folder.
struct KnownPodcasts {
  private struct Facts {
    var length: Int64?
    var folder: String?
  }

  private let catalogue: String
  private var known: [MediaKey: Facts] = [:]

  init(in places: Places) { catalogue = "\(places.data)/catalog.sqlite" }

  /// Reads from the catalogue the episodes of downloads that this value does not know yet.
  /// - Returns: the transfers with the sizes that their episodes' attributes have.
  mutating func complete(_ statuses: [TransferStatus]) -> [TransferStatus] {
    let wanted = statuses.filter { $0.state != .remote && $0.state != .cached && known[$0.key] == nil }.map(
      \.key)
    for key in wanted { known[key] = Facts() }
    let entries = KnownEntries.all(forKeys: wanted, inFile: catalogue)
    let folders = KnownEntries.folderNames(ofPodcasts: Set(entries.map(\.podcast.id)), inFile: catalogue)
    // Of several episodes with one enclosure the first counts.
    for entry in entries.reversed() {
      known[entry.episode.mediaKey] = Facts(
        length: EpisodeSize.plausibleLength(of: entry.episode), folder: folders[entry.podcast.id])
    }
    return statuses.map { $0.withLength(ofFeed: known[$0.key]?.length) }
  }

  /// The name of the podcast's folder; its title where the catalogue does not know it.
  func folder(of status: TransferStatus) -> String { known[status.key]?.folder ?? status.show }
}
