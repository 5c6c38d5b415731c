internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import TransferClient
package import TransferProtocol

extension Command {
  static let status = Command(
    """
    podcastfs status [--json] [--watch]

    Shows all downloads with progress, rate and time left. It needs no mount.

      --watch  continues until you interrupt it; with --json, a line for each change
    """
  ) { arguments in
    let watches = arguments.takeFlag("--watch", "-w")
    _ = try arguments.operands()
    let (places, settings) = try CommandSettings.load()
    try places.create()
    let changes = Monitor(0)
    let client = try TransferClient(places: places, settings: settings, isMount: false)
    defer { client.stop() }
    client.observe { _ in changes.withLockNotifying { $0 += 1 } }
    // After a reboot this is the command that lets downloads go on.
    client.resumeUnfinished()
    client.waitUntilCurrent(until: .after(2))
    let isScreen = !StandardStreams.isJSON && StandardStreams.outputIsTerminal
    var display = watches && isScreen ? LiveDisplay(.output) : nil
    // Where a daemon can't start, the numbers are those of the last one.
    var (last, said): (String, String?) = ("", nil)
    repeat {
      let seen = changes.withLock { $0 }
      let list = TransferList(sized(client.allStatuses(), places))
      if display != nil {
        display?.draw(footer: [list.summary]) { list.entries(columns: $0) }
      } else if isScreen {
        list.show()
      } else {
        let text = StandardStreams.isJSON ? list.json(settings.cacheSize, isLine: watches) : list.text
        if text != last { StandardStreams.print(text) }
        last = text
      }
      if let why = client.daemonFailure, why != said {
        StandardStreams.complain(why)
        said = why
      }
      if watches {
        // A daemon that starts meanwhile cannot notify this process, which is not connected.
        _ = changes.wait(until: .after(2)) { $0 != seen ? true : nil }
        client.waitUntilCurrent(until: .after(2))
        StandardStreams.endWithReader()
      }
    } while watches && !StandardStreams.isCut
  }

  /// The transfers with the sizes that their episodes' attributes have.
  private static func sized(_ statuses: [TransferStatus], _ places: Places) -> [TransferStatus] {
    let keys = statuses.filter { $0.state != .remote && $0.total == nil }.map(\.key)
    let entries = KnownEntries.all(forKeys: keys, inFile: "\(places.data)/catalog.sqlite")
    let lengths = entries.map { ($0.episode.mediaKey, EpisodeSize.plausibleLength(of: $0.episode)) }
    // Of several episodes with one enclosure the first counts.
    let length = Dictionary(lengths, uniquingKeysWith: { first, _ in first })
    return statuses.map { $0.withLength(ofFeed: length[$0.key] ?? nil) }
  }
}

package struct TransferList {
  private let statuses: [TransferStatus]

  package init(_ statuses: [TransferStatus]) { self.statuses = statuses }

  /// Those that are neither remote nor complete.
  private var shown: [TransferStatus] { StatusReport.ordered(statuses).filter { $0.state != .cached } }

  package func entries(columns: Int) -> [LiveDisplay.Entry] {
    shown.map { .init($0.lines(columns: columns), $0.color) }
  }

  /// The list once, as far as it fits.
  func show() {
    let (columns, rows) = Terminal.output.size
    // The summary and the prompt take a row each, or two.
    for line in LiveDisplay.screen(columns, rows - 2, footer: [], { entries(columns: $0) }) {
      StandardStreams.print(Style.output.colored(line.text, line.color))
    }
    StandardStreams.tell(summary, hanging: 2)
  }

  var text: String { (shown.map(\.text) + [summary]).joined(separator: "\n") }

  func json(_ cacheLimit: Int64, isLine: Bool) -> String {
    let json = StatusReport.json(statuses, version: podcastfsVersion, cacheLimit: cacheLimit)
    return isLine ? json.compactText : json.indentedText
  }

  package var summary: String {
    let cached = statuses.count { $0.state == .cached && $0.isEpisode }
    let size = HumanText.size(statuses.reduce(0) { $0 + $1.budgeted })
    // The rate of all that run and the time that all that is wanted takes, as far as both are known.
    let pace = DownloadTotals(downloads: statuses.filter(\.isUnfinished)).pace
    let totals = pace.isEmpty ? "" : " (\(pace.joined(separator: ", ")))"
    let counts: [String] = [.downloading, .queued, .paused, .failed].compactMap { (state: TransferState) in
      let count = statuses.count { $0.state == state }
      return count > 0 ? "\(count) \(state.name)\(state == .downloading ? totals : "")" : nil
    }
    return (counts + ["\(HumanText.count(cached, "episode")) downloaded (\(size) in the cache)"]).joined(
      separator: ", ")
  }
}
