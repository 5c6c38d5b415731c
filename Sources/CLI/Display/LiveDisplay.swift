internal import Configuration
package import PosixKit

/// Lines on a terminal that are drawn again in their place.
package struct LiveDisplay {
  private let terminal: Terminal
  /// How wide each line was that stands there.
  private var drawn: [Int] = []

  package init(_ terminal: Terminal) { self.terminal = terminal }

  package struct Entry {
    package var lines: [String]
    package var color: Style.Color?

    package init(_ lines: [String], _ color: Style.Color? = nil) {
      self.lines = lines
      self.color = color
    }
  }

  /// Draws entries over those drawn before: see `frame`.
  mutating func draw(footer: [String] = [], _ entries: (_ columns: Int) -> [Entry]) {
    let (columns, rows) = terminal.size
    StandardStreams.write(frame(columns, rows, footer: footer, entries), to: terminal.descriptor)
  }

  /// What draws entries over those of the frame before, none wider than the terminal, and the footer.
  package mutating func frame(
    _ columns: Int, _ rows: Int, footer: [String], _ entries: (_ columns: Int) -> [Entry]
  ) -> String {
    let lines = Self.screen(columns, rows, footer: footer, entries)
    // Lines that were drawn on a wider terminal take several rows now.
    let above = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(columns, 1)) }
    var text = above > 0 ? "\r\u{1b}[\(min(above, rows - 1))A" : "\r"
    for line in lines { text += Style(terminal).colored(line.text, line.color) + "\u{1b}[K\n" }
    text += "\u{1b}[J"
    drawn = lines.map { ColumnText.width($0.text) }
    return text
  }

  /// As many entries as a terminal has rows for, a line that counts the others, and the footer.
  package static func screen(
    _ columns: Int, _ rows: Int, footer: [String], _ entries: (_ columns: Int) -> [Entry]
  ) -> [(text: String, color: Style.Color?)] {
    // One column and one row less: a full one makes some terminals scroll.
    let width = columns - 1
    let entries = entries(width)
    let footer = footer.flatMap {
      ColumnText.wrapped($0, width, hanging: 2).split(separator: "\n").map(String.init)
    }
    let room = max(rows - 1 - footer.count, 1)
    let isEnough = entries.reduce(0) { $0 + $1.lines.count } <= room
    var shown: [(text: String, color: Style.Color?)] = []
    var rest = entries[...]
    while let entry = rest.first, isEnough || shown.count + entry.lines.count < room {
      shown += entry.lines.map { ($0, entry.color) }
      rest.removeFirst()
    }
    if !rest.isEmpty { shown.append(("… and \(rest.count) more", nil)) }
    return (shown + footer.map { ($0, nil) }).map { (ColumnText.cut($0.text, width), $0.color) }
  }
}

/// Colours, on terminals that have them, and not where NO_COLOR is set (no-color.org).
package struct Style: Sendable {
  private let isColored: Bool

  package enum Color: Int, Sendable { case red = 31, green, yellow }

  static let output = Style(.output)

  init(_ terminal: Terminal) {
    let environment = Places.processEnvironment
    isColored =
      terminal.isTerminal && environment["NO_COLOR"]?.isEmpty ?? true
      && !["dumb", ""].contains(environment["TERM"] ?? "")
  }

  func colored(_ text: String, _ color: Color?) -> String {
    guard isColored, let color else { return text }
    return "\u{1b}[\(color.rawValue)m\(text)\u{1b}[0m"
  }
}
