/// A command's usage text in its parts: the one source of help, manual pages and completions.
struct CommandForm {
  var name: String
  var summary: String
  /// How it is called, a form a line.
  var synopsis: [String]
  /// What it does: paragraphs, and options with their explanations.
  var blocks: [Block]

  enum Block: Equatable {
    case paragraph(String)
    /// "-o OPTIONS", and what it means.
    case option(String, String)
  }

  init(_ command: any Command.Type) {
    self.init(name: command.name, summary: command.summary, usage: command.usage)
  }

  init(name: String, summary: String, usage: String) {
    self.name = name
    self.summary = summary
    let lines = usage.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    synopsis = Array(lines.prefix { !$0.isEmpty })
    blocks = Self.blocks(lines.dropFirst(synopsis.count))
  }

  /// The flags that it takes, "--json", "-o".
  var flags: [String] {
    // Calls of other programs among them are none of its own.
    let own = synopsis.filter { $0.hasPrefix("podcastfs ") }
    var flags = own.flatMap { $0.split { " []|".contains($0) } }.filter {
      $0.hasPrefix("-") && $0 != "--"
    }
    .map(String.init)
    for case .option(let form, _) in blocks {
      let flag = String(form.prefix { $0 != " " })
      if flag.hasPrefix("-"), flag != "--", !flags.contains(flag) { flags.append(flag) }
    }
    return flags.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
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
      case .paragraph(let words):
        text += "\n\n" + ColumnText.wrapped(words, columns)
        isList = false
      case .option(let form, let words):
        text += (isList ? "\n" : "\n\n") + ColumnText.entry("  " + form, words, at: column, columns)
        isList = true
      }
    }
    return text
  }

  /// The words that its first operand may be, like add and first.
  var verbs: [String] {
    synopsis.flatMap { line -> [String] in
      let first = line.split(separator: " ").dropFirst(2).first ?? ""
      let words = first.split(separator: "|").map(String.init)
      return words.allSatisfy { $0.allSatisfy { ("a"..."z").contains($0) } } ? words : []
    }
  }

  /// Whether a placeholder like "PATH" is among its operands.
  func takes(_ placeholder: String) -> Bool {
    synopsis.contains { $0.split { " []|….".contains($0) }.contains { $0 == placeholder } }
  }

  /// An option begins with two blanks and its form, with two blanks more before its explanation; lines that are
  /// indented further go on with it. All else are paragraphs.
  private static func blocks(_ lines: ArraySlice<String>) -> [Block] {
    var blocks: [Block] = []
    var paragraph: [String] = []
    func endParagraph() {
      if !paragraph.isEmpty { blocks.append(.paragraph(paragraph.joined(separator: " "))) }
      paragraph = []
    }
    for line in lines {
      let text = String(line.drop { $0 == " " })
      switch line.count - text.count {
      case 0 where !text.isEmpty: paragraph.append(text)
      case 2:
        endParagraph()
        blocks.append(option(text))
      case 3...:
        if case .option(let form, let before)? = blocks.last {
          blocks[blocks.count - 1] = .option(form, before + " " + text)
        }
      default: endParagraph()
      }
    }
    endParagraph()
    return blocks
  }

  private static func option(_ text: String) -> Block {
    var form = ""
    var rest = Substring(text)
    while !rest.isEmpty && !rest.hasPrefix("  ") { form.append(rest.removeFirst()) }
    return .option(form, String(rest.drop { $0 == " " }))
  }
}
