package import TransferProtocol

/// One transfer on one line: name, bar, percent, bytes, rate and time left.
package struct ProgressLine {
  package var name: String
  package var state: TransferState
  package var received: Int64
  /// nil while the size is not known.
  package var total: Int64?
  /// Bytes per second and seconds left, while downloading.
  package var rate: Int64?
  package var eta: Int64?
  package var error: String?

  package init(name: String, state: TransferState, received: Int64, total: Int64?) {
    self.name = name
    self.state = state
    self.received = received
    self.total = total
  }

  /// For a terminal of so many columns: the bar gives way first, then the name.
  package func bar(columns: Int) -> String {
    let nameWidth = min(max(columns / 3, 10), 40)
    let barWidth = min(columns - nameWidth - Self.factsWidth - 4, 30)
    if barWidth < 5 {
      let rest = columns - Self.factsWidth - 1
      return ColumnText.cut(rest < 10 ? facts : ColumnText.fitted(name, rest) + " " + facts, columns)
    }
    let filled =
      total.map { $0 > 0 ? Int(Double(barWidth) * Double(min(received, $0)) / Double($0)) : 0 } ?? 0
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: barWidth - filled)
    return ColumnText.cut("\(ColumnText.fitted(name, nameWidth)) [\(bar)] \(facts)", columns)
  }

  /// Share, size, rate and time left, below one another from line to line.
  private static let factsWidth = 6 + 2 + 8 + 2 + 10 + 2 + 8
  private var facts: String {
    let share =
      ColumnText.right(percent ?? "", 6) + "  " + ColumnText.right(HumanText.size(total ?? received), 8)
    switch state {
    case .cached: return share
    case .downloading:
      let speed = rate.map { HumanText.size($0) + "/s" } ?? ""
      return share + "  " + ColumnText.right(speed, 10) + "  " + (eta.map(HumanText.duration) ?? "")
    default: return share + "  " + state.name
    }
  }

  /// The bar, and below it why it does not move.
  package func lines(columns: Int) -> [String] {
    let reason = error.map { ColumnText.cut("    " + $0, columns) }
    return [bar(columns: columns)] + [reason].compactMap { $0 }
  }

  /// In words, for files and pipes.
  package var text: String {
    var parts = [percent, received > 0 || total == nil ? amount : nil].compactMap { $0 }
    switch state {
    case .downloading:
      if let rate { parts.append(HumanText.size(rate) + "/s") }
      if let eta { parts.append(HumanText.duration(eta) + " left") }
    case .cached: break
    default: parts.append(stateAndReason)
    }
    return (parts + [ColumnText.plain(name)]).joined(separator: "  ")
  }

  private var percent: String? {
    total.map { Progress.text(received: received, total: $0, isComplete: state == .cached) + "%" }
  }

  private var stateAndReason: String { state.name + (error.map { " (\(ColumnText.plain($0)))" } ?? "") }

  private var amount: String {
    HumanText.size(received) + (total.map { " of \(HumanText.size($0))" } ?? "")
  }
}

extension ProgressLine {
  init(_ status: TransferStatus) {
    let name = status.fileName.isEmpty ? status.title : status.fileName
    self.init(name: name, state: status.state, received: status.received, total: status.total)
    rate = status.rate
    eta = status.eta
    error = status.error
  }
}
