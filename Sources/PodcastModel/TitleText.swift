/// Titles as a reader of feeds shows them.
package enum TitleText {
  /// The title as it was meant: character references resolved, also those that were escaped twice, and tags of HTML left
  /// out. Other text in angle brackets stays.
  package static func plain(_ title: String) -> String {
    guard title.utf8.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }) else {
      return title
    }
    var title = title
    var meant = title.withUTF8(resolvingReferences)
    return meant.withUTF8(withoutTags)
  }

  /// The same on one line, with single blanks: what a row of the catalogue has of a podcast, and a report's head.
  package static func line(_ title: String) -> String {
    plain(title).split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  static func resolvingReferences(in bytes: HTMLReader.Bytes) -> String {
    HTMLReader(bytes, tags: false).text { piece, reader, output in
      if case .reference(let text) = piece { output += text.utf8 } else { output += reader.source }
    }
  }

  private static func withoutTags(_ bytes: HTMLReader.Bytes) -> String {
    HTMLReader(bytes, references: false).text { piece, reader, output in
      switch piece {
      case .start(let tag) where tags.contains(tag.name) && tag.isWellFormed:
        if tag.hidesContent { reader.skipContent(of: tag.name) }
      case .end(let name) where tags.contains(name): break
      default: output += reader.source
      }
    }
  }

  private static let tags: Set<String> = [
    "a", "abbr", "b", "big", "br", "cite", "code", "div", "em", "font", "i", "img", "mark", "p", "q", "s",
    "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "script", "noscript", "style", "iframe",
    "object", "h1", "h2", "h3", "h4", "h5", "h6", "center", "del", "ins",
  ]
}
