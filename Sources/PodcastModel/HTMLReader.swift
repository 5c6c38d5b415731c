/// Parts HTML into text and tags, as leniently as it comes and in linear time: the one reader of HTML, for show
/// notes, titles, the full-text index and pages that name feeds. The pieces are valid as long as the bytes are.
package struct HTMLReader {
  package typealias Bytes = UnsafeBufferPointer<UInt8>

  package enum Piece {
    case text
    /// A character reference, and what it stands for.
    case reference(String)
    case start(HTMLTag)
    case end(String)
    case comment
    /// A CDATA section of XML, with its marks.
    case section
  }

  private let bytes: Bytes
  private let readsTags: Bool
  private let readsReferences: Bool
  private let readsSections: Bool
  private var position = 0
  private var start = 0
  /// From here on there is no ">": what looks like a tag is text.
  private var hasNoMoreTags = false

  /// - Parameters:
  ///   - tags: whether there may be any; else they are text.
  ///   - references: the same for character references.
  ///   - sections: whether the text is XML, which has CDATA sections.
  package init(_ bytes: Bytes, tags: Bool = true, references: Bool = true, sections: Bool = false) {
    self.bytes = bytes
    readsTags = tags
    readsReferences = references
    readsSections = sections
  }

  /// The last piece as it stands in the document.
  package var source: Bytes { slice(start, position) }

  package mutating func next() -> Piece? {
    guard position < bytes.count else { return nil }
    start = position
    switch bytes[position] {
    case UInt8(ascii: "<") where readsTags:
      if let piece = markup() { return piece }
      position += 1
    case UInt8(ascii: "&") where readsReferences:
      if let found = HTMLEntity.resolve(slice(position, bytes.count)) {
        position += found.length
        return .reference(found.text)
      }
      position += 1
    default: break
    }
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "<") && readsTags || byte == UInt8(ascii: "&") && readsReferences { break }
      position += 1
    }
    return .text
  }

  /// What `write` makes of the pieces that follow.
  consuming func text(_ write: (Piece, inout HTMLReader, inout [UInt8]) -> Void) -> String {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    while let piece = next() { write(piece, &self, &output) }
    return String(decoding: output, as: UTF8.self)
  }

  /// Leaves out what follows the start tag of `script` or `style` up to its end tag.
  package mutating func skipContent(of name: String) {
    var reader = self
    while let piece = reader.next() {
      if case .end(name) = piece { return }
      self = reader
    }
  }

  private func slice(_ start: Int, _ end: Int) -> Bytes { Bytes(rebasing: bytes[start..<end]) }

  /// What the "<" at the position begins; nil where it is mere text.
  private mutating func markup() -> Piece? {
    guard !hasNoMoreTags, position + 1 < bytes.count else { return nil }
    let first = bytes[position + 1]
    if first == UInt8(ascii: "!") || first == UInt8(ascii: "?") { return declaration() }
    let isEnd = first == UInt8(ascii: "/")
    let start = position + (isEnd ? 2 : 1)
    let nameEnd = endOfName(start)
    guard nameEnd > start, nameEnd < bytes.count, HTMLTag.endsName(bytes[nameEnd]),
      let end = endOfTag(nameEnd)
    else { return nil }
    position = end + 1
    let name = Self.lowercased(slice(start, nameEnd))
    return isEnd ? .end(name) : .start(HTMLTag(name: name, attributes: slice(nameEnd, end)))
  }

  /// The first ">" that is in no quotes; where a quote is never closed, the first one. No tag begins within a tag: so
  /// each byte is looked at once for the tag before it.
  private mutating func endOfTag(_ start: Int) -> Int? {
    var quote: UInt8 = 0
    var isValue: Bool?
    var first: Int?
    var previous: UInt8 = 0
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "<") {
        if quote == 0 { break }
        if isValue == nil, beginsTag(index) { isValue = endsAsValue(index, quote) }
        if isValue == false { break }
      }
      if byte == UInt8(ascii: ">") {
        if quote == 0 { return index }
        first = first ?? index
      } else if quote != 0 {
        if byte == quote { quote = 0 }
      } else if previous == UInt8(ascii: "="), byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        (quote, isValue) = (byte, nil)
      }
      if byte > 0x20 { previous = byte }
      index += 1
    }
    if first == nil, index == bytes.count { hasNoMoreTags = true }
    return first
  }

  /// Whether the quote that is open here closes before a blank or the end of its tag, as that of a value does; else a
  /// quote was forgotten.
  private func endsAsValue(_ position: Int, _ quote: UInt8) -> Bool {
    guard let end = bytes[position...].firstIndex(of: quote), end + 1 < bytes.count else { return false }
    return bytes[end + 1] <= 0x20 || "/>".utf8.contains(bytes[end + 1])
  }

  private func beginsTag(_ position: Int) -> Bool {
    guard position + 1 < bytes.count else { return false }
    let next = bytes[position + 1]
    return Self.isLetter(next) || next == UInt8(ascii: "/") || next == UInt8(ascii: "!")
  }

  /// A comment, a declaration, a processing instruction or a CDATA section.
  private mutating func declaration() -> Piece? {
    let rest = slice(position, bytes.count)
    if readsSections, rest.starts(with: "<![CDATA[".utf8) {
      skip(9, to: "]]>")
      return .section
    }
    if rest.starts(with: "<!--".utf8) {
      // HTML takes "<!-->" for a whole comment.
      skip(2, to: "-->")
    } else if let end = rest.firstIndex(of: UInt8(ascii: ">")) {
      position += end + 1
    } else {
      hasNoMoreTags = true
      return nil
    }
    return .comment
  }

  /// Goes behind these marks, which follow so many bytes, or to the end of the document.
  private mutating func skip(_ count: Int, to marks: String) {
    position = min(position + count, bytes.count)
    let first = position + marks.utf8.count
    while position < bytes.count {
      position += 1
      if position >= first, bytes[position - 1] == UInt8(ascii: ">"),
        slice(position - marks.utf8.count, position).elementsEqual(marks.utf8)
      {
        return
      }
    }
  }

  /// A letter, then letters, digits, and marks of names that Word and SVG give; none ends with a colon, as the
  /// scheme of an address in angle brackets does.
  private func endOfName(_ start: Int) -> Int {
    guard start < bytes.count, Self.isLetter(bytes[start]) else { return start }
    var end = start + 1
    while end < bytes.count, Self.isName(bytes[end]) { end += 1 }
    return bytes[end - 1] == UInt8(ascii: ":") ? start : end
  }

  /// Longer names than any that means something are cut.
  private static func lowercased(_ name: Bytes) -> String {
    String(unsafeUninitializedCapacity: 16) { buffer in
      let count = min(name.count, 15)
      for index in 0..<count { buffer[index] = isLetter(name[index]) ? name[index] | 0x20 : name[index] }
      return count
    }
  }

  package static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }

  package static func isName(_ byte: UInt8) -> Bool {
    isLetter(byte) || (48...58).contains(byte)
      || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ".")].contains(byte)
  }
}
