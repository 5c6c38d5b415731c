internal import TransferProtocol

/// How far several downloads are together, in one line.
struct DownloadTotals {
  private let lines: [ProgressLine]

  init(_ lines: [ProgressLine]) { self.lines = lines }

  /// "3 of 12 downloaded, 120 MiB of 1.2 GiB, 2.1 MiB/s, 9:12 left".
  var text: String {
    let complete = lines.count { $0.state == .cached }
    let received = lines.reduce(Int64(0)) { $0 + $1.received }
    let total = lines.reduce(Int64(0)) { $0 + ($1.total ?? $1.received) }
    var words = ["\(complete) of \(HumanText.count(lines.count, "episode")) downloaded"]
    words.append(
      received < total ? "\(HumanText.size(received)) of \(HumanText.size(total))" : HumanText.size(received))
    let rate = lines.reduce(Int64(0)) { $0 + ($1.state == .downloading ? $1.rate ?? 0 : 0) }
    if rate > 0 {
      words.append("\(HumanText.size(rate))/s")
      let seconds = (total - received) / rate
      if seconds > 0 && seconds <= 86_400 { words.append("\(HumanText.duration(seconds)) left") }
    }
    return words.joined(separator: ", ")
  }
}
