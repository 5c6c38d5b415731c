/// Titles as a reader of feeds shows them.
package enum TitleText {
  /// The title as it was meant: without what was escaped or encoded once too often, character references
  /// resolved, and tags of HTML left out. Other text in angle brackets stays; so does a tag that is never closed, as in
  /// "Using <b> in HTML", unless it needs no end (`<br>`, a paragraph at the beginning) or has attributes.
  package static func plain(_ title: String) -> String {
    var title = title
    let resolved: String? = title.withUTF8 { bytes in
      bytes.contains { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }
        ? resolvingReferences(in: bytes) : nil
    }
    var meant = EncodedTwice.repaired(resolved ?? title)
    return resolved == nil ? meant : meant.withUTF8(withoutTags)
  }

  /// The same on one line, with single blanks: what a row of the catalogue has of a podcast, and a report's head.
  package static func line(_ title: String) -> String {
    plain(title).split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  static func resolvingReferences(in bytes: HTMLReader.Bytes) -> String {
    var reader = HTMLReader(bytes, tags: false)
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    while let piece = reader.next() {
      if case .reference(let text) = piece { output += text.utf8 } else { output += reader.source }
    }
    return String(decoding: output, as: UTF8.self)
  }

  private static func withoutTags(_ bytes: HTMLReader.Bytes) -> String {
    let literal = literalTags(in: bytes)
    var number = -1
    var reader = HTMLReader(bytes, references: false)
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    /// The element whose content is no text.
    var hiding: String?
    while let piece = reader.next() {
      number += 1
      switch piece {
      case .end(let name) where name == hiding: hiding = nil
      case _ where hiding != nil: break
      case .start(let tag) where tags.contains(tag.name) && tag.isWellFormed && !literal.contains(number):
        if tag.hidesContent { hiding = tag.name }
      case .end(let name) where tags.contains(name) && !literal.contains(number): break
      default: output += reader.source
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// The tags that are meant as text, by their places among the pieces: those without attributes that are not closed, and
  /// ends of nothing.
  private static func literalTags(in bytes: HTMLReader.Bytes) -> Set<Int> {
    var reader = HTMLReader(bytes, references: false)
    var literal: Set<Int> = []
    var open: [String: [Int]] = [:]
    var number = -1
    var hasText = false
    while let piece = reader.next() {
      number += 1
      switch piece {
      case .start(let tag) where tags.contains(tag.name) && tag.isWellFormed:
        let isClosedLater = tag.hidesContent || !(tag.hasAttributes || !hasText && tag.name == "p")
        if !endless.contains(tag.name), isClosedLater { literal.insert(number) }
        open[tag.name, default: []].append(number)
      case .end(let name) where tags.contains(name):
        if let start = open[name]?.popLast() { literal.remove(start) } else { literal.insert(number) }
      case .text: hasText = hasText || reader.source.contains { $0 > 0x20 }
      default: hasText = true
      }
    }
    return literal
  }

  private static let endless: Set<String> = ["br", "img"]

  /// Those that titles have.
  private static let tags: Set<String> = [
    "a", "abbr", "b", "big", "br", "cite", "code", "div", "em", "font", "i", "img", "mark", "p", "q", "s",
    "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "script", "noscript", "style", "iframe",
    "object", "h1",
    "h2",
    "h3", "h4", "h5", "h6", "center", "del", "ins",
  ]
}
