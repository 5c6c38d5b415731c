package import TransferProtocol

/// What `podcastfs status` shows.
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
    let rate = statuses.reduce(0) { $0 + ($1.state == .downloading ? $1.rate ?? 0 : 0) }
    guard rate > 0 else { return "" }
    let wanted = statuses.filter { $0.state == .downloading || $0.state == .queued }
    let left = wanted.reduce(Int64(0)) { $0 + max(($1.total ?? $1.received) - $1.received, 0) }
    let seconds = left / rate
    let time = seconds > 0 && seconds <= 86_400 ? ", \(HumanText.duration(seconds)) left" : ""
    return " (\(HumanText.size(rate))/s\(time))"
  }
}
