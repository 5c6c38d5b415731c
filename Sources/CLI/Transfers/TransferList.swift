internal import TransferProtocol

struct TransferList {
  private let statuses: [TransferStatus]
  private let names: KnownPodcasts

  init(_ statuses: [TransferStatus], _ names: KnownPodcasts) {
    self.statuses = statuses
    self.names = names
  }

  /// Those that are neither merely remote nor wholly here.
  private var lines: [ProgressLine] {
    StatusReport.ordered(statuses).filter { $0.state != .cached }.map { status in
      ProgressLine(status, show: names.folder(of: status))
    }
  }

  func entries(columns: Int) -> [LiveDisplay.Entry] {
    lines.map { .init($0.lines(columns: columns), $0.state == .failed ? .red : nil) }
  }

  var text: String { (lines.map(\.text) + [summary]).joined(separator: "\n") }

  var summary: String {
    let cached = statuses.count { $0.state == .cached }
    let size = HumanText.size(statuses.reduce(0) { $0 + $1.received })
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
