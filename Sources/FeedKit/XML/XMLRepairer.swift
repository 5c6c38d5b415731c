internal import PodcastModel

/// Rewrites the text of a document that is not well-formed. `HTMLReader` parts it into pieces: references become numeric,
/// other ampersands and angle brackets become text, controls go, bytes that are no UTF-8 are read as windows-1252. Comments,
/// processing instructions and document types are left out; CDATA sections become text. Tags stay as they are: where those
/// do not fit, libxml2 goes on as well as it can.
struct XMLRepairer {
  /// Bytes before a document's first element in which that is looked for.
  private static let longestProlog = 16_384
  private static let pieceSize = 65_536
  /// Byte-order marks, and the end of a document type's own declarations.
  private static let harmless = Array("\u{FEFF}]>".utf8)
  private static let roots: Set<String> = ["rss", "feed", "rdf:rdf", "channel", "opml", "html"]

  private var changes = FeedWarnings()
  private var reader: HTMLReader
  private var output: [UInt8] = []
  private let emit: (UnsafeRawBufferPointer) -> Void

  /// - Parameters:
  ///   - document: in UTF-8, but for single bytes.
  ///   - emit: gets the new document, piece by piece.
  init(_ document: HTMLReader.Bytes, emit: @escaping (UnsafeRawBufferPointer) -> Void) {
    reader = HTMLReader(document, sections: true)
    self.emit = emit
  }

  /// - Returns: what was changed, one line for each kind.
  mutating func run() -> [String] {
    skipProlog()
    while let piece = reader.next() {
      switch piece {
      case .text: copy(reader.source[...], as: .text)
      case .section: copySection(reader.source)
      case .reference(let text): copyReference(text)
      case .start, .end: copyTag(reader.source)
      case .comment: break
      }
      if output.count > Self.pieceSize { flush() }
    }
    flush()
    return changes.lines
  }

  /// Leaves out everything before the first element with a name that we know: a server's own messages, which may be HTML,
  /// stand before many feeds.
  private mutating func skipProlog() {
    let start = reader
    var (skipped, hasJunk) = (0, false)
    while skipped < Self.longestProlog {
      let previous = reader
      guard let piece = reader.next() else { break }
      if case .start(let tag) = piece, Self.roots.contains(tag.name) {
        if hasJunk { note("text before the document") }
        return reader = previous
      }
      if case .comment = piece {
      } else {
        hasJunk = hasJunk || reader.source.contains { $0 > 0x20 && !Self.harmless.contains($0) }
      }
      skipped += reader.source.count
    }
    reader = start
  }

  private mutating func flush() {
    output.withUnsafeBytes(emit)
    output.removeAll(keepingCapacity: true)
  }

  private mutating func note(_ change: String) { changes.add("repaired: " + change) }
}

extension XMLRepairer {
  private enum Place { case text, section, tag }

  private mutating func copyReference(_ text: String) {
    for scalar in text.unicodeScalars where XMLText.isAllowed(scalar.value) {
      output += "&#\(scalar.value);".utf8
    }
  }

  private mutating func copyTag(_ tag: HTMLReader.Bytes) {
    var reader = HTMLReader(tag, tags: false)
    while let piece = reader.next() {
      if case .reference(let text) = piece { copyReference(text) } else { copy(reader.source[...], as: .tag) }
    }
  }

  private mutating func copySection(_ section: HTMLReader.Bytes) {
    let content = section.dropFirst("<![CDATA[".utf8.count)
    copy(content.suffix(3).elementsEqual("]]>".utf8) ? content.dropLast(3) : content, as: .section)
  }

  /// Copies a text. Its ampersands are no references; its angle brackets are markup in a tag only.
  private mutating func copy(_ text: HTMLReader.Bytes.SubSequence, as place: Place) {
    var position = text.startIndex
    while position < text.endIndex {
      let byte = text[position]
      switch byte {
      case UInt8(ascii: "&"):
        if place != .section { note("an ampersand that was not escaped") }
        output += "&#38;".utf8
      case UInt8(ascii: "<") where place != .tag:
        if place == .text { note("an angle bracket that was not escaped") }
        output += "&#60;".utf8
      case UInt8(ascii: ">") where place != .tag: output += "&#62;".utf8
      case 9, 10, 13, 0x20..<0x80: output.append(byte)
      case 0..<0x20: note("a control character")
      default:
        position += copyCharacter(text[position...])
        continue
      }
      position += 1
    }
  }

  /// Copies the character beyond ASCII at the start of a text (RFC 3629 §4).
  /// - Returns: how many bytes it has.
  private mutating func copyCharacter(_ text: HTMLReader.Bytes.SubSequence) -> Int {
    let length =
      switch text[text.startIndex] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    let character = text.prefix(length)
    guard length > 1, let scalar = String(validating: character, as: UTF8.self)?.unicodeScalars.first else {
      note("a byte in another encoding")
      Windows1252.append(text[text.startIndex], to: &output)
      return 1
    }
    if XMLText.isAllowed(scalar.value) { output += character } else { note("a control character") }
    return length
  }
}
