package import PosixKit

/// Lines on a terminal that are drawn again in their place.
package struct LiveDisplay {
  private let terminal: Terminal
  /// How wide each line was that stands there.
  private var drawn: [Int] = []

  package init(_ terminal: Terminal) { self.terminal = terminal }

  /// Draws lines over those drawn before: see `frame`.
  mutating func draw(footer: [String] = [], _ lines: (_ columns: Int) -> [String]) {
    let (columns, rows) = terminal.size
    StandardStreams.write(frame(columns, rows, footer: footer, lines), to: terminal.descriptor)
  }

  /// What draws lines over those of the frame before, none wider than the terminal; as many as it has rows for, the
  /// rest in a line's word, and the footer always.
  package mutating func frame(
    _ columns: Int, _ rows: Int, footer: [String], _ lines: (_ columns: Int) -> [String]
  ) -> String {
    // One column and one row less: a full one makes some terminals scroll.
    let width = columns - 1
    var lines = lines(width)
    let room = max(rows - 1 - footer.count, 1)
    if lines.count > room {
      let hidden = lines.count - (room - 1)
      lines = lines.prefix(room - 1) + ["… and \(hidden) more"]
    }
    lines = (lines + footer).map { ColumnText.cut($0, width) }
    // Lines that were drawn on a wider terminal take several rows now.
    let above = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(columns, 1)) }
    var text = above > 0 ? "\r\u{1b}[\(min(above, rows - 1))A" : "\r"
    for line in lines { text += line + "\u{1b}[K\n" }
    // What is left of a longer drawing.
    text += "\u{1b}[J"
    drawn = lines.map(ColumnText.width)
    return text
  }
}
