internal import Configuration

/// A manual page in the language of man(7).
struct ManualPage {
  private(set) var text: String

  /// - Parameter section: "1", "5", "8".
  init(_ title: String, section: String, summary: String) {
    let name = title.uppercased()
    text = ".TH \(name) \(section) \"\" \"podcastfs \(podcastfsVersion)\" \"podcastfs\"\n"
    text += ".SH NAME\n\(Self.escaped(title)) \\- \(Self.escaped(summary))\n"
  }

  mutating func section(_ title: String) { text += ".SH \(Self.escaped(title.uppercased()))\n" }
  mutating func subsection(_ title: String) { text += ".SS \(Self.escaped(title))\n" }
  mutating func paragraph(_ words: String) { text += ".PP\n\(Self.line(words))\n" }

  /// An entry of a list: a form in bold, and what it means.
  mutating func entry(_ form: String, _ words: String) {
    text += ".TP\n.B \(Self.line(form))\n\(Self.line(words))\n"
  }

  mutating func literal(_ lines: String) {
    text += ".PP\n.nf\n.RS 4\n"
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      text += Self.line(String(line)) + "\n"
    }
    text += ".RE\n.fi\n"
  }

  mutating func add(_ blocks: [CommandForm.Block]) {
    for block in blocks {
      switch block {
      case .paragraph(let words): paragraph(words)
      case .option(let form, let words): entry(form, words)
      }
    }
  }

  /// One that begins like a request is none.
  private static func line(_ text: String) -> String {
    let text = escaped(text)
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "~": result += "\\(ti"
      case "^": result += "\\(ha"
      case "`": result += "\\(ga"
      case "…": result += "..."
      case "—": result += "\\(em"
      default: result.append(character)
      }
    }
  }
}
