/// A command's usage text in its parts: the one source of parsing, help and the manual page.
struct CommandForm {
  /// How it is called, a form a line.
  let synopsis: [String]
  /// What it does: paragraphs, and options with their explanations.
  let blocks: [Block]

  enum Block: Equatable {
    case heading(String)
    case paragraph(String)
    /// "-o OPTIONS", and what it means.
    case option(String, String)
    case literal(String)
  }

  init(_ usage: String) {
    let lines = usage.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    synopsis = Array(lines.prefix { !$0.isEmpty })
    blocks = Self.blocks(lines.dropFirst(synopsis.count).joined(separator: "\n"))
  }

  /// Calls of podcastfs itself, not of other programs.
  private var ownForms: [String] { synopsis.filter { $0.hasPrefix("podcastfs ") } }

  private var explained: [String] {
    blocks.compactMap { if case .option(let form, _) = $0 { form } else { nil } }
  }

  /// The flags that it takes, "--json", "-o".
  var flags: [String] {
    let inForms = ownForms.flatMap { $0.split { " []|".contains($0) } }
    let words = inForms + explained.map { $0.prefix { $0 != " " } }
    return words.map(String.init).filter { $0.hasPrefix("-") && $0 != "--" }
  }

  /// How many operands its forms have: "[NAME]" may be left out, "NAME…" repeated, "NAME|--all" replaced by the flag.
  var operandCount: ClosedRange<Int> {
    let ranges = ownForms.map { form in
      var (least, most) = (0, 0)
      var isInOption = false
      for word in form.split(separator: " ").dropFirst(2) {
        if word.hasPrefix("[-") { isInOption = true }
        if !isInOption, !word.hasPrefix("-") {
          if !word.hasPrefix("["), !word.contains("|--") { least += 1 }
          most = word.contains("…") ? 1 << 30 : most + 1
        }
        if word.hasSuffix("]") { isInOption = false }
      }
      return least...most
    }
    return (ranges.map(\.lowerBound).min() ?? 0)...(ranges.map(\.upperBound).max() ?? 0)
  }

  func text(columns: Int) -> String {
    let column = min((explained.map(\.count).max() ?? 0) + 4, 22)
    var text = synopsis.map { ColumnText.wrapped($0, columns, hanging: 4) }.joined(separator: "\n")
    var isList = false
    for block in blocks {
      switch block {
      case .heading(let words), .literal(let words), .paragraph(let words):
        text += "\n\n" + ColumnText.wrapped(words, columns)
        isList = false
      case .option(let form, let words):
        text += (isList ? "\n" : "\n\n") + ColumnText.entry("  " + form, words, at: column, columns)
        isList = true
      }
    }
    return text
  }

  /// An option begins with two blanks and its form, with two blanks more before its explanation. Lines that are indented
  /// further continue it. "# " begins a heading, "> " a line as it is. All else are paragraphs, with empty lines between them.
  static func blocks(_ source: String) -> [Block] {
    var blocks: [Block] = []
    var isParagraph = false
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = String(line.drop { $0 == " " })
      let continues = isParagraph
      isParagraph = false
      if text.isEmpty { continue }
      let last = blocks.last
      switch (text.prefix(2), line.count - text.count, last) {
      case ("# ", _, _): blocks.append(.heading(String(text.dropFirst(2))))
      case ("> ", _, .literal(let before)?):
        blocks[blocks.count - 1] = .literal(before + "\n" + text.dropFirst(2))
      case ("> ", _, _): blocks.append(.literal(String(text.dropFirst(2))))
      case (_, 2, _):
        let parts = text.split(separator: "  ", maxSplits: 1).map { String($0.drop { $0 == " " }) }
        blocks.append(.option(parts[0], parts.count > 1 ? parts[1] : ""))
      case (_, 3..., .option(let form, let before)?):
        blocks[blocks.count - 1] = .option(form, before + " " + text)
      default:
        isParagraph = true
        if continues, case .paragraph(let before)? = last {
          blocks[blocks.count - 1] = .paragraph(before + " " + text)
        } else {
          blocks.append(.paragraph(text))
        }
      }
    }
    return blocks
  }
}
