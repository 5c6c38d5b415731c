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

  /// For a terminal of so many columns.
  package func bar(columns: Int) -> String {
    let facts = self.facts
    // The bar gives way first, then the name.
    let nameWidth = min(max(columns / 3, 10), 40)
    let barWidth = min(columns - nameWidth - ColumnText.width(facts) - 4, 30)
    if barWidth < 8 {
      let rest = columns - ColumnText.width(facts) - 1
      return rest < 10 ? ColumnText.fitted(facts, columns) : ColumnText.fitted(name, rest) + " " + facts
    }
    let filled =
      total.map { $0 > 0 ? Int(Double(barWidth) * Double(min(received, $0)) / Double($0)) : 0 } ?? 0
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: barWidth - filled)
    return ColumnText.fitted(name, nameWidth) + " [\(bar)] " + facts
  }

  /// Without a bar, for files and pipes.
  package var text: String { facts + "  " + ColumnText.plain(name) }

  private var facts: String {
    var parts: [String] = []
    if let total {
      parts.append(Progress.text(received: received, total: total, isComplete: state == .cached) + "%")
    }
    switch state {
    case .downloading:
      parts.append(amount)
      if let rate { parts.append(HumanText.size(rate) + "/s") }
      if let eta { parts.append(HumanText.duration(eta) + " left") }
    case .cached: parts.append(HumanText.size(total ?? received))
    default:
      if received > 0 { parts.append(amount) }
      parts.append(state.name)
      if let error { parts.append("(\(ColumnText.plain(error)))") }
    }
    return parts.joined(separator: "  ")
  }

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
