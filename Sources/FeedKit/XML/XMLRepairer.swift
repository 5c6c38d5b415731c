internal import PodcastModel

/// Rewrites a document that is not well-formed as the well-formed one that was most likely meant. `HTMLReader` parts it
/// into pieces: references become numeric, other ampersands and angle brackets become text, controls go, bytes that are
/// no UTF-8 are read as windows-1252, elements are closed where they must end. Comments, processing instructions and
/// document types are left out; CDATA sections become text. What the document breaks off in stays open.
struct XMLRepairer {
  /// Bytes before a document's first element in which that is looked for.
  private static let longestProlog = 16_384
  private static let pieceSize = 65_536
  /// Byte-order marks, and the end of a document type's own declarations.
  private static let harmless = Array("\u{FEFF}]>".utf8)
  private static let roots: Set<String> = ["rss", "feed", "rdf:rdf", "channel", "opml", "html"]
  private var changes = FeedWarnings()
  private var reader: HTMLReader
  private var openElements: [[UInt8]] = []
  /// Deeper elements are left out; libxml2 itself refuses 256.
  private static let depthLimit = 200
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
      case .text: copyText(reader.source)
      case .section: copySection(reader.source)
      case .reference(let text): copyReference(text)
      case .start(let tag): copyStart(tag)
      case .end: copyEnd()
      case .comment: break
      }
      if output.count > Self.pieceSize { flush() }
      if openElements.isEmpty { break }
    }
    flush()
    return changes.lines
  }

  /// Leaves out everything before the first element whose name we know: a server's own messages, which may be HTML,
  /// stand before many feeds.
  private mutating func skipProlog() {
    var (ahead, skipped, hasJunk) = (reader, 0, false)
    while skipped < Self.longestProlog {
      let here = ahead
      guard let piece = ahead.next() else { return }
      switch piece {
      case .start(let tag) where Self.roots.contains(tag.name):
        reader = here
        if hasJunk { note("text before the document") }
        return
      case .comment: break
      default: hasJunk = hasJunk || ahead.source.contains { $0 > 0x20 && !Self.harmless.contains($0) }
      }
      skipped += ahead.source.count
    }
  }

  private mutating func flush() {
    output.withUnsafeBytes(emit)
    output.removeAll(keepingCapacity: true)
  }

  private mutating func note(_ change: String) { changes.add("repaired: " + change) }
}

extension XMLRepairer {
  private mutating func copyStart(_ tag: HTMLTag) {
    let source = reader.source
    let name = source.dropFirst().prefix { !HTMLTag.endsName($0) }
    closeBefore(tag.name)
    guard openElements.count < Self.depthLimit else { return }
    output.append(UInt8(ascii: "<"))
    output += name
    copyAttributes(of: tag)
    if source.dropLast().last == UInt8(ascii: "/") || Self.voidElements.contains(tag.name) {
      output += "/>".utf8
    } else {
      output.append(UInt8(ascii: ">"))
      openElements.append(Array(name))
    }
  }

  /// Copies the end tag with those of the elements that end with it, or leaves it out.
  private mutating func copyEnd() {
    let name = reader.source.dropFirst(2).prefix { !HTMLTag.endsName($0) }
    guard let depth = depth(of: name) else {
      note("an end tag without its element")
      return
    }
    for _ in 1..<depth { note("an element that was not closed") }
    for _ in 0..<depth { closeLast() }
  }

  /// Ends what cannot hold an element of this name: items stand in a channel or beside it, in nothing else; fields do not
  /// stand in a title.
  private mutating func closeBefore(_ name: String) {
    let isField = Self.fields.contains(name) || name.contains(":")
    if isField, openElements.last?.elementsEqual("title".utf8) == true {
      note("an element that was not closed")
      closeLast()
    }
    guard name == "item" || name == "entry" else { return }
    let containers = ["channel", "feed", "rss", "rdf:RDF"].compactMap { depth(of: $0.utf8) }
    guard let depth = containers.min(), depth > 1 else { return }
    for _ in 1..<depth {
      note("an element that was not closed")
      closeLast()
    }
  }

  /// How many elements end with the innermost one of this name; nil where none is open.
  private func depth(of name: some Sequence<UInt8>) -> Int? {
    openElements.lastIndex { $0.elementsEqual(name) }.map { openElements.count - $0 }
  }

  private mutating func closeLast() {
    output += "</".utf8
    output += openElements.removeLast()
    output.append(UInt8(ascii: ">"))
  }

  /// Writes the attributes with quotes, without those that come twice or have no valid name.
  private mutating func copyAttributes(of tag: HTMLTag) {
    var names: [HTMLReader.Bytes.SubSequence] = []
    for attribute in tag.attributes {
      let isGood =
        attribute.name.first.map(HTMLReader.isLetter) == true && attribute.name.allSatisfy(HTMLReader.isName)
        && attribute.name.last != UInt8(ascii: ":") && !names.contains { $0.elementsEqual(attribute.name) }
      guard isGood, names.count < 100 else { continue }
      names.append(attribute.name)
      output.append(UInt8(ascii: " "))
      output += attribute.name
      output += "=\"".utf8
      var value = HTMLReader(
        HTMLReader.Bytes(rebasing: attribute.value ?? attribute.name.suffix(0)), tags: false)
      while let piece = value.next() {
        if case .reference(let text) = piece { copyReference(text) } else { copyText(value.source) }
      }
      output.append(UInt8(ascii: "\""))
    }
  }

  private static let fields: Set<String> = [
    "link", "guid", "enclosure", "pubdate", "description", "id", "published", "updated", "summary", "content",
  ]
  /// Elements of HTML that have no end tag, where show notes stand in a feed unescaped.
  private static let voidElements: Set<String> = ["br", "hr", "img", "wbr", "input"]
}

extension XMLRepairer {
  private mutating func copyReference(_ text: String) {
    for scalar in text.unicodeScalars where XMLText.isAllowed(scalar.value) {
      output += "&#\(scalar.value);".utf8
    }
  }

  /// Copies a text whose ampersands and angle brackets are no markup.
  private mutating func copyText(_ text: HTMLReader.Bytes) { copy(text[...], isMarkup: true) }

  private mutating func copySection(_ section: HTMLReader.Bytes) {
    let content = section.dropFirst("<![CDATA[".utf8.count)
    copy(content.suffix(3).elementsEqual("]]>".utf8) ? content.dropLast(3) : content, isMarkup: false)
  }

  private mutating func copy(_ text: HTMLReader.Bytes.SubSequence, isMarkup: Bool) {
    var position = text.startIndex
    while position < text.endIndex {
      let byte = text[position]
      switch byte {
      case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""):
        if isMarkup, byte == UInt8(ascii: "&") { note("an ampersand that was not escaped") }
        if isMarkup, byte == UInt8(ascii: "<") { note("an angle bracket that was not escaped") }
        output += "&#\(byte);".utf8
      case 9, 10, 13, 0x20..<0x80: output.append(byte)
      case 0..<0x20: note("a control character")
      default:
        position += copyCharacter(text[position...])
        continue
      }
      position += 1
    }
  }

  /// Copies the character beyond ASCII at the start of a text.
  /// - Returns: how many bytes it has.
  private mutating func copyCharacter(_ text: HTMLReader.Bytes.SubSequence) -> Int {
    var decoder = UTF8()
    var bytes = text.prefix(4).makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&bytes) else {
      note("a byte in another encoding")
      Windows1252.append(text[text.startIndex], to: &output)
      return 1
    }
    let length = UTF8.width(scalar)
    if XMLText.isAllowed(scalar.value) { output += text.prefix(length) } else { note("a control character") }
    return length
  }
}
