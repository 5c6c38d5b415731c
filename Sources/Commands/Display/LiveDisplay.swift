internal import PosixKit

/// Lines on a terminal that are drawn again in their place.
struct LiveDisplay {
  private let terminal: Terminal
  private var drawn = 0

  init(_ terminal: Terminal) { self.terminal = terminal }

  /// Draws lines over those drawn before; as many as the terminal has rows for, the rest in a last line's
  /// word.
  mutating func draw(_ lines: (_ columns: Int) -> [String]) {
    let (columns, rows) = terminal.size
    // One column and one row less: a full one makes some terminals scroll.
    var lines = lines(columns - 1)
    if lines.count > rows - 1 {
      let hidden = lines.count - (rows - 2)
      lines = lines.prefix(max(rows - 2, 0)) + ["… and \(hidden) more"]
    }
    var text = drawn > 0 ? "\r\u{1b}[\(drawn)A" : "\r"
    for line in lines { text += line + "\u{1b}[K\n" }
    // What is left of a longer drawing.
    text += "\u{1b}[J"
    drawn = lines.count
    StandardStreams.write(text, to: terminal.descriptor)
  }
}
