/// Show notes as plain text.
package enum PlainText {
  /// The text of HTML, or of text that has none: tags left out, character references resolved, paragraphs
  /// parted by an empty line, list items begun with "- ", links followed by their address in angle brackets.
  /// Takes any input, in linear time. No line break at its end.
  package static func text(_ html: String) -> String {
    var html = html
    return html.withUTF8 { bytes in
      var writer = PlainTextWriter(keepsLineBreaks: !hasMarkup(bytes))
      var reader = HTMLReader(bytes)
      while let piece = reader.next() { writer.write(piece, &reader) }
      return writer.finished()
    }
  }

  /// The same on one line, for attributes.
  package static func oneLine(_ html: String) -> String {
    text(html).split(separator: "\n").joined(separator: " ")
  }

  /// The mere words, for an index: a blank in the place of each tag, white space as it is.
  package static func words(_ html: UnsafeBufferPointer<UInt8>) -> String {
    HTMLReader(html).text { piece, reader, output in
      switch piece {
      case .text: output += reader.source
      case .reference(let text): output += text.utf8
      case .comment, .section, .end: output.append(0x20)
      case .start(let tag):
        output.append(0x20)
        if tag.hidesContent { reader.skipContent(of: tag.name) }
      }
    }
  }

  /// Whether line breaks are mere white space, as in HTML.
  private static func hasMarkup(_ text: HTMLReader.Bytes) -> Bool {
    var reader = HTMLReader(text)
    while let piece = reader.next() {
      if case .start(let tag) = piece, !["a", "b", "i"].contains(tag.name) { return true }
    }
    return false
  }
}

private struct PlainTextWriter {
  private let keepsLineBreaks: Bool
  private var output: [UInt8] = []
  private var lineBreaks = 0
  private var hasBlank = false
  /// The address of the open link, and where its text begins in the output.
  private var link: (address: [UInt8], start: Int)?

  init(keepsLineBreaks: Bool) { self.keepsLineBreaks = keepsLineBreaks }

  mutating func write(_ piece: HTMLReader.Piece, _ reader: inout HTMLReader) {
    switch piece {
    case .text: write(reader.source)
    case .reference("\u{A0}"): hasBlank = true
    case .reference(let text): write(Array(text.utf8))
    case .comment, .section: break
    case .start(let tag): start(tag, &reader)
    case .end("a"): endLink()
    case .end(let name): breakLines(around: name)
    }
  }

  private mutating func start(_ tag: HTMLTag, _ reader: inout HTMLReader) {
    switch tag.name {
    case "br": lineBreaks = min(2, lineBreaks + 1)
    case "li":
      breakLines(1)
      write(Array("- ".utf8))
    case "a":
      endLink()
      if let address = tag.attribute("href")?.utf8.drop(while: { $0 <= 0x20 }) {
        let text = String(Substring(address))
        if WebAddress(text).isWeb { link = (Array(address), output.count) }
      }
    default:
      if tag.hidesContent { reader.skipContent(of: tag.name) }
      breakLines(around: tag.name)
    }
  }

  private mutating func breakLines(around name: String) {
    if Self.paragraphs.contains(name) { breakLines(2) } else if Self.lines.contains(name) { breakLines(1) }
  }

  mutating func finished() -> String {
    endLink()
    return String(decoding: output, as: UTF8.self)
  }

  private mutating func write(_ bytes: some Sequence<UInt8>) {
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

  /// Shows where a link leads, unless its text is the address.
  private mutating func endLink() {
    guard let link else { return }
    self.link = nil
    if output[min(link.start, output.count)...].elementsEqual(link.address) { return }
    let breaks = lineBreaks
    (lineBreaks, hasBlank) = (0, true)
    write("<".utf8)
    write(link.address)
    write(">".utf8)
    lineBreaks = breaks
  }

  private static let paragraphs: Set<String> = [
    "p", "ul", "ol", "dl", "table", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "section",
    "article", "figure",
  ]
  private static let lines: Set<String> = ["div", "li", "tr", "dt", "dd", "header", "footer", "figcaption"]
}
