internal import Configuration
internal import PodcastModel
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

package enum ColumnText {
  /// The columns that text takes: East Asian wide characters and emoji take two, marks none.
  package static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

  /// Exactly so many columns: cut with "…", or with blanks behind it.
  package static func fitted(_ text: String, _ columns: Int) -> String {
    let text = cut(text, columns)
    return text + blanks(columns - width(text))
  }

  /// So many columns at most: cut with "…".
  package static func cut(_ text: String, _ columns: Int) -> String {
    let text = PrintableText.line(text)
    if width(text) <= columns { return text }
    var result = ""
    var left = columns - 1
    for character in text {
      left -= width(character)
      if left < 0 { break }
      result.append(character)
    }
    return columns < 1 ? "" : result + "…"
  }

  /// So many columns at most: its middle gives way to "…", because beginnings and ends tell titles apart.
  package static func cutInTheMiddle(_ text: String, _ columns: Int) -> String {
    let text = PrintableText.line(text)
    if width(text) <= columns || columns < 8 { return cut(text, columns) }
    var end = ""
    for character in text.reversed() {
      guard width(end) + width(character) <= columns / 3 else { break }
      end.insert(character, at: end.startIndex)
    }
    return cut(text, columns - width(end)) + end
  }

  /// Breaks the lines of a text at blanks, and beside wide characters, so that each takes so many columns at most. A longer
  /// word stays whole.
  /// - Parameter hanging: columns by which the lines after a break are indented further.
  package static func wrapped(_ text: String, _ columns: Int, hanging: Int = 0) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return lines.map { width($0) <= columns ? $0 : wrapped(line: $0, columns, hanging) }.joined(
      separator: "\n")
  }

  private static func wrapped(line: String, _ columns: Int, _ hanging: Int) -> String {
    let indent = line.prefix { $0 == " " }.count
    var (lines, used) = ([blanks(indent)], 0)
    for part in parts(line.dropFirst(indent)) {
      let word = part.drop { $0 == " " }
      let isTooLong = indent + hanging + width(String(word)) > columns
      if used == 0 || used + width(part) <= columns || isTooLong {
        lines[lines.count - 1] += part
        used = max(used, indent) + width(part)
      } else if !word.isEmpty {
        lines.append(blanks(indent + hanging) + word)
        used = indent + hanging + width(String(word))
      }
    }
    return lines.joined(separator: "\n")
  }

  /// What a break may part: words with the blanks before them, and wide characters, because scripts that have them have no
  /// blanks. No line begins with a mark.
  private static func parts(_ text: Substring) -> [String] {
    var parts: [String] = []
    var last: Character = " "
    for character in text {
      let isWord = character == " " && last != " "
      let isBesideWide = last != " " && (width(character) > 1 || width(last) > 1) && !character.isPunctuation
      if parts.isEmpty || isWord || isBesideWide { parts.append("") }
      parts[parts.count - 1].append(character)
      last = character
    }
    return parts
  }

  /// A line of two columns: a form, and from `column` on what it means, wrapped there. Below it where the form is
  /// too long.
  package static func entry(_ form: String, _ text: String, at column: Int, _ columns: Int) -> String {
    let column = min(column, columns * 2 / 5)
    let body = wrapped(blanks(column) + text, columns)
    if width(form) + 2 > column { return wrapped(form, columns, hanging: 4) + "\n" + body }
    return form + body.dropFirst(width(form))
  }

  package static func right(_ text: String, _ columns: Int) -> String { blanks(columns - width(text)) + text }
  private static func blanks(_ count: Int) -> String { String(repeating: " ", count: max(count, 0)) }

  private static func width(_ character: Character) -> Int {
    character.unicodeScalars.reduce(0) { $0 + Terminal.columns(of: $1) }
  }
}

extension Terminal {
  /// The columns that text may take: one less than there are, because a full line makes some terminals scroll.
  var width: Int { max(size.columns - 1, 20) }
}

package enum HumanText {
  /// Bytes in powers of 1024, with three digits where there is a unit: "812 B", "1.25 MiB", "27.1 MiB".
  package static func size(_ bytes: Int64) -> String {
    if bytes < 1024 { return "\(max(bytes, 0)) B" }
    var value = Double(bytes)
    var unit = -1
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    // 999.5 would be rounded to four digits.
    while unit < 0 || (value >= 999.5 && unit < units.count - 1) {
      value /= 1024
      unit += 1
    }
    let decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
    return fixed(value, decimals) + " " + units[unit]
  }

  /// Seconds: "0:07", "3:20", "1:02:03", "2 d 5 h".
  package static func duration(_ seconds: Int64) -> String {
    let seconds = max(seconds, 0)
    if seconds >= 100 * 3600 { return "\(seconds / 86_400) d \(seconds / 3600 % 24) h" }
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, CivilTime.padded(Int(seconds % 60), 2))
    return hours > 0 ? "\(hours):\(CivilTime.padded(Int(minutes), 2)):\(rest)" : "\(minutes):\(rest)"
  }

  /// "1 episode", "2 episodes".
  package static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  /// A time in the past as "just now", "5 minutes ago", "3 days ago"; one in the future as "in 5 minutes".
  package static func ago(_ seconds: Int64) -> String {
    if abs(seconds) < 60 { return "just now" }
    return seconds < 0 ? "in \(span(-seconds))" : "\(span(seconds)) ago"
  }

  /// Seconds in the largest unit of which there are two or more: "90 seconds", "36 hours", "13 days", "8 months".
  package static func span(_ seconds: Int64) -> String {
    let units: [(length: Int64, name: String)] = [
      (31_536_000, "year"), (2_592_000, "month"), (604_800, "week"), (86_400, "day"), (3600, "hour"),
      (60, "minute"),
    ]
    let unit = units.first { seconds >= $0.length * 2 } ?? (60, "minute")
    return count(Int(seconds / unit.length), unit.name)
  }

  private static func fixed(_ value: Double, _ decimals: Int) -> String {
    let scale = [1, 10, 100][decimals]
    let scaled = Int((value * Double(scale)).rounded())
    if decimals == 0 { return "\(scaled)" }
    let fraction = String(scaled % scale)
    return "\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
  }
}
