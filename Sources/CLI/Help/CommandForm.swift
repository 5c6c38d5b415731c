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
    blocks = Self.blocks(lines.dropFirst(synopsis.count))
  }

  /// Calls of podcastfs itself, not of other programs.
  private var ownForms: [String] { synopsis.filter { $0.hasPrefix("podcastfs ") } }

  /// The flags that it takes, "--json", "-o".
  var flags: [String] {
    let inForms = ownForms.flatMap { $0.split { " []|".contains($0) } }.map(String.init)
    let explained = blocks.compactMap { block -> String? in
      if case .option(let form, _) = block { String(form.prefix { $0 != " " }) } else { nil }
    }
    return (inForms + explained).filter { $0.hasPrefix("-") && $0 != "--" }
  }

  /// How many operands its forms have: "[NAME]" may be left out, "NAME…" repeated, "NAME|--all" replaced by the flag.
  var operandCount: ClosedRange<Int> {
    var range = Int.max...Int.max
    for (place, form) in ownForms.enumerated() {
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
      range = place == 0 ? least...most : min(range.lowerBound, least)...max(range.upperBound, most)
    }
    return range
  }

  /// The explanation, for so many columns.
  func text(columns: Int) -> String {
    let forms = blocks.compactMap { block -> Int? in
      if case .option(let form, _) = block { form.count } else { nil }
    }
    let column = min((forms.max() ?? 0) + 4, 22)
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
  /// further continue it. "# " begins a heading, "> " a line as it is. All else are paragraphs.
  static func blocks(_ lines: some Sequence<String>) -> [Block] {
    var blocks: [Block] = []
    var isParagraph = false
    for line in lines {
      let text = String(line.drop { $0 == " " })
      let last = blocks.last
      let continues = isParagraph
      isParagraph = false
      switch (line.count - text.count, last) {
      case (_, _) where text.isEmpty: break
      case (_, _) where text.hasPrefix("# "): blocks.append(.heading(String(text.dropFirst(2))))
      case (_, .literal(let before)?) where text.hasPrefix("> "):
        blocks[blocks.count - 1] = .literal(before + "\n" + text.dropFirst(2))
      case (_, _) where text.hasPrefix("> "): blocks.append(.literal(String(text.dropFirst(2))))
      case (2, _): blocks.append(option(text))
      case (3..., .option(let form, let before)?):
        blocks[blocks.count - 1] = .option(form, before + " " + text)
      case (_, .paragraph(let before)?) where continues:
        blocks[blocks.count - 1] = .paragraph(before + " " + text)
        isParagraph = true
      default:
        blocks.append(.paragraph(text))
        isParagraph = true
      }
    }
    return blocks
  }

  private static func option(_ text: String) -> Block {
    let parts = text.split(separator: "  ", maxSplits: 1).map(String.init)
    return .option(parts[0], parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
  }
}
