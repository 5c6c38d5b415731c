internal import PosixKit
package import TransferProtocol

/// One transfer on one line: name, bar, percent, bytes, rate and time left.
package struct ProgressLine {
  package var name: String
  /// The podcast, where the name alone would not tell.
  package var show: String?
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

  /// For a terminal of so many columns: the bar gives way first, then the rate, the size and the time left; the name
  /// and how far it is stay.
  package func bar(columns: Int) -> String {
    let usual = min(max(columns / 3, 10), 40)
    // With the show before it, a longer name and a shorter bar.
    let nameWidth =
      show == nil ? usual : min(max(usual, min(columns * 2 / 5, columns - Self.factsWidth - 16)), 60)
    let full = facts([.share, .size, .rate, .rest])
    let barWidth = min(columns - nameWidth - Self.factsWidth - 4, 30)
    if barWidth < 5 { return withoutBar(columns) }
    let filled =
      total.map { $0 > 0 ? Int(Double(barWidth) * Double(min(received, $0)) / Double($0)) : 0 } ?? 0
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: barWidth - filled)
    return ColumnText.cut("\(ColumnText.fitted(fullName(nameWidth), nameWidth)) [\(bar)] \(full)", columns)
  }

  private func withoutBar(_ columns: Int) -> String {
    let choices: [[Fact]] = [
      [.share, .size, .rate, .rest], [.share, .size, .rest], [.share, .rest], [.share],
    ]
    let most = choices.first { facts($0, isPadded: true).count + 1 + Self.leastName <= columns } ?? [.share]
    let shown = facts(most, isPadded: true)
    let rest = columns - shown.count - 1
    var line = ColumnText.cut(
      rest < 1 ? shown : ColumnText.fitted(fullName(rest), rest) + " " + shown, columns)
    while line.last == " " { line.removeLast() }
    return line
  }

  /// Columns in which a name can still be told from others.
  private static let leastName = 14

  /// The show stands before the episode, in a third of the room, where there is enough for both.
  private func fullName(_ columns: Int) -> String {
    guard let show, !show.isEmpty, columns >= 24 else { return name }
    return ColumnText.cut(show, columns / 3) + ": " + name
  }

  private enum Fact { case share, size, rate, rest }

  /// Share, size, rate and time left, below one another from line to line.
  private static let factsWidth = 6 + 2 + 8 + 2 + 10 + 2 + 8
  private func facts(_ wanted: [Fact], isPadded: Bool = false) -> String {
    var parts: [String] = []
    if wanted.contains(.share) { parts.append(ColumnText.right(percent ?? "", 6)) }
    if wanted.contains(.size) { parts.append(ColumnText.right(HumanText.size(total ?? received), 8)) }
    switch state {
    case .cached: break
    case .downloading:
      if wanted.contains(.rate) {
        parts.append(ColumnText.right(rate.map { HumanText.size($0) + "/s" } ?? "", 10))
      }
      if wanted.contains(.rest) { parts.append(eta.map(HumanText.duration) ?? "") }
    default: if wanted.contains(.rest) { parts.append(state.name) }
    }
    let text = parts.joined(separator: "  ")
    guard isPadded else { return text }
    let widths: [Fact: Int] = [.share: 6, .size: 8, .rate: 10, .rest: 8]
    let width = wanted.reduce(-2) { $0 + (widths[$1] ?? 0) + 2 }
    return text + String(repeating: " ", count: max(width - text.count, 0))
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
    let whole = [show, name].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
    return (parts + [PrintableText.line(whole)]).joined(separator: "  ")
  }

  private var percent: String? {
    total.map { Progress.text(received: received, total: $0, isComplete: state == .cached) + "%" }
  }

  private var stateAndReason: String { state.name + (error.map { " (\(PrintableText.line($0)))" } ?? "") }

  private var amount: String {
    HumanText.size(received) + (total.map { " of \(HumanText.size($0))" } ?? "")
  }
}

extension ProgressLine {
  init(_ status: TransferStatus) {
    let name = status.fileName.isEmpty ? status.title : status.fileName
    self.init(name: name, state: status.state, received: status.received, total: status.total)
    show = status.show.isEmpty ? nil : status.show
    rate = status.rate
    eta = status.eta
    error = status.error
  }
}
