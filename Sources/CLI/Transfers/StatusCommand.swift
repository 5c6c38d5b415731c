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

extension TransferStatus {
  /// For a terminal of so many columns: title, bar, percent, size, rate and time left. The bar gives way first, then the
  /// rate, the size and the time left. Only a running download has a bar.
  package func bar(columns: Int) -> String {
    let (hasSize, tailWidth) =
      columns >= 53 ? (true, 20) : columns >= 41 ? (true, 8) : (false, columns >= 31 ? 8 : 0)
    var facts = ColumnText.right(percent ?? "", 6)
    if hasSize { facts += "  " + ColumnText.right(HumanText.size(total ?? received), 8) }
    if tailWidth > 0 { facts += "  " + ColumnText.fitted(pace(tailWidth), tailWidth) }
    let room = columns - facts.count - 1
    let barWidth = min(room - min(max(columns / 3, 10), 44) - 3, 30)
    var line = facts
    if state == .downloading, columns >= 53, barWidth >= 5 {
      let share = total.map { min(Double(received) / Double(max($0, 1)), 1) } ?? 0
      let filled = Int(Double(barWidth) * share)
      let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: barWidth - filled)
      line = "\(name(room - barWidth - 3)) [\(bar)] \(facts)"
    } else if room > 0 {
      line = "\(name(room)) \(facts)"
    }
    line = ColumnText.cut(line, columns)
    while line.last == " " { line.removeLast() }
    return line
  }

  /// Rate and time left; why nothing comes; or the state.
  private func pace(_ columns: Int) -> String {
    switch state {
    case .cached: return ""
    case .downloading:
      if rate == nil, let error { return error }
      let rate = columns > 8 ? ColumnText.right(rate.map { HumanText.size($0) + "/s" } ?? "", 10) + "  " : ""
      return rate + (eta.map(HumanText.duration) ?? "")
    case .failed, .paused, .queued, .remote: return state.name
    }
  }

  /// The title whole, as far as there is room; the show behind it gives way first.
  private func name(_ columns: Int) -> String {
    let stem = fileName.lastIndex(of: ".").map { String(fileName[..<$0]) } ?? fileName
    let title = PrintableText.line(title.isEmpty ? stem : title)
    let left = columns - ColumnText.width(title) - 3
    let whole =
      show.isEmpty || left < 6
      ? ColumnText.cutInTheMiddle(title, columns) : "\(title) – \(ColumnText.cut(show, left))"
    return ColumnText.fitted(whole, columns)
  }

  private var percent: String? { progressText.map { $0 + "%" } }

  /// Green for a download that runs, yellow for one that is stalled or paused, red for a failed one.
  var color: Style.Color? {
    switch state {
    case .failed: .red
    case .downloading: rate == nil && error != nil ? .yellow : .green
    case .paused: .yellow
    case .cached, .queued, .remote: nil
    }
  }

  /// The bar, and below it why it does not move.
  package func lines(columns: Int) -> [String] {
    let reason = state == .downloading ? nil : error.map { ColumnText.cut("    " + $0, columns) }
    return [bar(columns: columns)] + [reason].compactMap { $0 }
  }

  /// For files and pipes, in columns without blanks in them: state, percent, received, total, rate, time left; then the
  /// name and the reason. "-" is for what is not known.
  package var text: String {
    func size(_ bytes: Int64?) -> String { bytes.map { HumanText.size($0).filter { $0 != " " } } ?? "-" }
    let isRunning = state == .downloading
    let columns = [
      (percent ?? "-", 6), (size(received), 9), (size(total), 9),
      (isRunning ? rate.map { size($0) + "/s" } ?? "-" : "-", 11),
      (isRunning ? eta.map(HumanText.duration) ?? "-" : "-", 8),
    ]
    let name = [show, fileName.isEmpty ? title : fileName].filter { !$0.isEmpty }.joined(separator: ": ")
    let reason = error.map { " (\(PrintableText.line($0)))" } ?? ""
    return
      ([ColumnText.fitted(state.name, 11)] + columns.map { ColumnText.right($0, $1) }
      + [PrintableText.line(name) + reason]).joined(separator: "  ")
  }
}

struct DownloadTotals {
  let downloads: [TransferStatus]

  /// "3 of 12 episodes downloaded, 120 MiB of 1.2 GiB, 2.1 MiB/s, 9:12 left".
  var text: String {
    let complete = downloads.count { $0.state == .cached }
    let size = HumanText.size(received) + (received < total ? " of \(HumanText.size(total))" : "")
    return (["\(complete) of \(HumanText.count(downloads.count, "episode")) downloaded", size] + pace)
      .joined(separator: ", ")
  }

  private var received: Int64 { downloads.reduce(0) { $0 + $1.received } }
  private var total: Int64 { downloads.reduce(0) { $0 + max($1.total ?? 0, $1.received) } }

  /// The rate of those that run and the time that all take, as far as both are known.
  var pace: [String] {
    let rate = downloads.reduce(Int64(0)) { $0 + ($1.state == .downloading ? $1.rate ?? 0 : 0) }
    guard rate > 0 else { return [] }
    let seconds = (total - received) / rate
    let isShort = seconds > 0 && seconds <= 86_400
    return ["\(HumanText.size(rate))/s"] + (isShort ? ["\(HumanText.duration(seconds)) left"] : [])
  }
}
