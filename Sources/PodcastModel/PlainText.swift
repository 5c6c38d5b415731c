/// Show notes as plain text.
package enum PlainText {
  /// The text of HTML, or of text that has none: tags left out, character references resolved, paragraphs
  /// parted by an empty line, list items begun with "- ", links followed by their address in angle brackets.
  /// Takes any input, in linear time. No line break at its end.
  package static func text(_ html: String) -> String {
    var writer = PlainTextWriter(keepsLineBreaks: !hasMarkup(html))
    var reader = HTMLReader(Array(html.utf8))
    while let piece = reader.next() { writer.write(piece) }
    return writer.finished()
  }

  /// The same on one line, for attributes.
  package static func oneLine(_ html: String) -> String {
    text(html).split(separator: "\n").joined(separator: " ")
  }

  /// Whether line breaks are mere white space, as in HTML.
  private static func hasMarkup(_ text: String) -> Bool {
    var reader = HTMLReader(Array(text.utf8))
    while let piece = reader.next() {
      if case .start(let name, _) = piece, name != "a", name != "b", name != "i" { return true }
    }
    return false
  }
}

/// Collects lines.
private struct PlainTextWriter {
  private let keepsLineBreaks: Bool
  private var output: [UInt8] = []
  private var lineBreaks = 0
  private var hasBlank = false
  /// The address of the open link, and where its text begins in the output.
  private var link: (address: String, start: Int)?

  init(keepsLineBreaks: Bool) { self.keepsLineBreaks = keepsLineBreaks }

  mutating func write(_ piece: HTMLReader.Piece) {
    switch piece {
    case .text(let bytes): write(bytes)
    case .start("br", _): lineBreaks = min(2, lineBreaks + 1)
    case .start("li", _):
      breakLines(1)
      write(Array("- ".utf8)[...])
    case .start("a", let address):
      endLink()
      if let address, PublicURL.isWeb(address) { link = (address, output.count) }
    case .end("a"): endLink()
    case .start(let name, _), .end(let name):
      if Self.paragraphs.contains(name) { breakLines(2) } else if Self.lines.contains(name) { breakLines(1) }
    }
  }

  mutating func finished() -> String {
    endLink()
    return String(decoding: output, as: UTF8.self)
  }

  private mutating func write(_ bytes: ArraySlice<UInt8>) {
    for byte in bytes {
      switch byte {
      case 0x0A where keepsLineBreaks: lineBreaks = min(2, lineBreaks + 1)
      case 0x20, 9, 10, 12, 13: hasBlank = true
      case 0..<0x20, 0x7F: break
      default:
        beginByte()
        output.append(byte)
      }
    }
  }

  /// Writes the white space that is due before more text.
  private mutating func beginByte() {
    if !output.isEmpty {
      if lineBreaks > 0 {
        output.append(contentsOf: repeatElement(0x0A, count: lineBreaks))
      } else if hasBlank {
        output.append(0x20)
      }
    }
    (lineBreaks, hasBlank) = (0, false)
  }

  private mutating func breakLines(_ count: Int) { lineBreaks = max(lineBreaks, count) }

  /// Shows where a link leads, unless its text says so.
  private mutating func endLink() {
    guard let link else { return }
    self.link = nil
    let text = String(decoding: output[min(link.start, output.count)...], as: UTF8.self)
    if text.contains(link.address)
      || link.address.hasSuffix(text.filter { !$0.isWhitespace }) && !text.isEmpty
    {
      return
    }
    let (breaks, _) = (lineBreaks, hasBlank)
    (lineBreaks, hasBlank) = (0, true)
    write(Array("<\(link.address)>".utf8)[...])
    lineBreaks = breaks
  }

  private static let paragraphs: Set<String> = [
    "p", "ul", "ol", "dl", "table", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "section",
    "article", "figure",
  ]
  private static let lines: Set<String> = ["div", "li", "tr", "dt", "dd", "header", "footer", "figcaption"]
}
