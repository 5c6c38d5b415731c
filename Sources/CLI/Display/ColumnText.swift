internal import PodcastModel
internal import PosixKit

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
    var result = blanks(indent)
    var used = indent
    var isFirst = true
    for word in line.dropFirst(indent).split(separator: " ", omittingEmptySubsequences: false) {
      let parts = parts(word)
      for (place, part) in parts.enumerated() {
        let blank = isFirst || place > 0 ? "" : " "
        let taken = width(part)
        let isTooLong = indent + hanging + taken > columns
        if isFirst || used + blank.count + taken <= columns || isTooLong && parts.count == 1 {
          result += blank + part
          used += blank.count + taken
        } else if !part.isEmpty {
          result += "\n" + blanks(indent + hanging) + part
          used = indent + hanging + taken
        }
        isFirst = false
      }
    }
    return result
  }

  /// The parts of a word that a break may divide: scripts with wide characters have no blanks. No line begins with a mark.
  private static func parts(_ word: Substring) -> [String] {
    var parts: [String] = []
    var isBehindWide = false
    for character in word {
      let isWide = width(character) > 1
      if parts.isEmpty || (isWide || isBehindWide) && !character.isPunctuation {
        parts.append("")
      }
      parts[parts.count - 1].append(character)
      isBehindWide = isWide
    }
    return parts.isEmpty ? [""] : parts
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
