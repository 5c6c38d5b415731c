internal import PodcastModel
internal import PosixKit
package import TransferProtocol

/// One transfer on one line: title, bar, percent, bytes, rate and time left.
package struct ProgressLine {
  package var name: String
  /// The text that a terminal shows instead of `name`.
  package var title: String?
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
    (self.name, self.state, self.received, self.total) = (name, state, received, total)
  }

  /// For a terminal of so many columns: the bar gives way first, then the rate, the size and the time left; the name
  /// and the share stay. What does not move has no bar.
  package func bar(columns: Int) -> String {
    let nameWidth = min(max(columns / 3, 10), 44)
    let barWidth = min(columns - nameWidth - Self.factsWidth - 4, 30)
    if barWidth < 5 { return withoutBar(columns) }
    let full = facts([.share, .size, .rate, .rest])
    guard state == .downloading else {
      let room = nameWidth + barWidth + 3
      return ColumnText.cut("\(ColumnText.fitted(fullName(room), room)) \(full)", columns)
    }
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

  /// The title whole, as far as there is room; the show behind it gives way first.
  private func fullName(_ columns: Int) -> String {
    let title = PrintableText.line(title ?? stem)
    let left = columns - ColumnText.width(title) - 3
    guard let show, !show.isEmpty, left >= 6 else { return ColumnText.cutInTheMiddle(title, columns) }
    return "\(title) – \(ColumnText.cut(show, left))"
  }

  private var stem: String {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
    return String(name[..<dot])
  }

  private enum Fact { case share, size, rate, rest }

  /// Share, size, rate and time left, below one another from line to line.
  private static let widths: [Fact: Int] = [.share: 6, .size: 8, .rate: 10, .rest: 8]
  private static let factsWidth = widths.values.reduce(-2) { $0 + $1 + 2 }

  private func facts(_ wanted: [Fact], isPadded: Bool = false) -> String {
    var parts: [String] = []
    if wanted.contains(.share) { parts.append(ColumnText.right(percent ?? "", 6)) }
    if wanted.contains(.size) { parts.append(ColumnText.right(HumanText.size(total ?? received), 8)) }
    switch state {
    case .cached: break
    case .downloading:
      // Where nothing comes, why in place of the rate.
      if rate == nil, let error {
        let room = (wanted.contains(.rate) ? 12 : 0) + (wanted.contains(.rest) ? 8 : 0)
        if room > 0 { parts.append(ColumnText.cut(error, room)) }
        break
      }
      if wanted.contains(.rate) {
        parts.append(ColumnText.right(rate.map { HumanText.size($0) + "/s" } ?? "", 10))
      }
      if wanted.contains(.rest) { parts.append(eta.map(HumanText.duration) ?? "") }
    default: if wanted.contains(.rest) { parts.append(state.name) }
    }
    let text = parts.joined(separator: "  ")
    guard isPadded else { return text }
    let width = wanted.reduce(-2) { $0 + (Self.widths[$1] ?? 0) + 2 }
    return text + String(repeating: " ", count: max(width - ColumnText.width(text), 0))
  }

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
    let left = state == .downloading ? eta : nil
    let columns = [
      (percent ?? "-", 6), (size(received), 9), (size(total), 9),
      (state == .downloading ? rate.map { size($0) + "/s" } ?? "-" : "-", 11),
      (left.map(HumanText.duration) ?? "-", 8),
    ]
    let whole = [show, name].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
    let reason = error.map { " (\(PrintableText.line($0)))" } ?? ""
    return
      (["\(ColumnText.fitted(state.name, 11))"] + columns.map { ColumnText.right($0, $1) }
      + [PrintableText.line(whole) + reason]).joined(separator: "  ")
  }

  private var percent: String? {
    total.map { Progress.text(received: received, total: $0, isComplete: state == .cached) + "%" }
  }
}

extension ProgressLine {
  /// - Parameter show: the name of the podcast's folder.
  init(_ status: TransferStatus, show: String) {
    let name = status.fileName.isEmpty ? status.title : status.fileName
    self.init(name: name, state: status.state, received: status.received, total: status.total)
    title = status.title.isEmpty ? nil : status.title
    self.show = show.isEmpty ? nil : show
    rate = status.rate
    eta = status.eta
    error = status.error
  }
}
