/// Parts HTML into text and tags, as leniently as it comes.
struct HTMLReader {
  enum Piece {
    /// With references resolved.
    case text(ArraySlice<UInt8>)
    /// A tag's name in lower case, and its `href`.
    case start(String, String?)
    case end(String)
  }

  /// A tag that is longer is text.
  private static let longestTag = 4096

  private let bytes: [UInt8]
  private var position = 0
  /// From here on there is no ">": what looks like a tag is text.
  private var hasNoMoreTags = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func next() -> Piece? {
    guard position < bytes.count else { return nil }
    switch bytes[position] {
    case UInt8(ascii: "<"):
      if let piece = tag() { return piece }
      position += 1
      return .text(bytes[position - 1..<position])
    case UInt8(ascii: "&"):
      if let found = HTMLEntity.resolve(bytes[position...]) {
        position += found.length
        return .text(found.text == "\u{A0}" ? [0x20] : Array(found.text.utf8)[...])
      }
      position += 1
      return .text(bytes[position - 1..<position])
    default:
      let start = position
      while position < bytes.count, bytes[position] != UInt8(ascii: "<"), bytes[position] != UInt8(ascii: "&")
      {
        position += 1
      }
      return .text(bytes[start..<position])
    }
  }

  /// The tag or comment at the position; nil where it is mere text.
  private mutating func tag() -> Piece? {
    guard !hasNoMoreTags, position + 1 < bytes.count else { return nil }
    let first = bytes[position + 1]
    if first == UInt8(ascii: "!") || first == UInt8(ascii: "?") { return skipComment() }
    let isEnd = first == UInt8(ascii: "/")
    let start = position + (isEnd ? 2 : 1)
    var nameEnd = start
    while nameEnd < bytes.count, Self.isName(bytes[nameEnd]) { nameEnd += 1 }
    guard nameEnd > start, let end = endOfTag(nameEnd) else { return nil }
    let name = String(decoding: bytes[start..<nameEnd].prefix(16), as: UTF8.self).lowercased()
    position = end + 1
    if isEnd { return .end(name) }
    if name == "script" || name == "style" { skipContent(of: name) }
    return .start(name, name == "a" ? reference(in: bytes[nameEnd..<end]) : nil)
  }

  private mutating func endOfTag(_ start: Int) -> Int? {
    let limit = min(bytes.count, start + Self.longestTag)
    let end = bytes[start..<limit].firstIndex { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }
    if end == nil, limit == bytes.count { hasNoMoreTags = true }
    guard let end, bytes[end] == UInt8(ascii: ">") else { return nil }
    return end
  }

  private mutating func skipComment() -> Piece? {
    let isComment = bytes[position...].starts(with: "<!--".utf8)
    var index = position + 2
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: ">"),
        !isComment
          || index >= position + 6 && bytes[index - 1] == UInt8(ascii: "-")
            && bytes[index - 2] == UInt8(ascii: "-")
      {
        position = index + 1
        return .text([])
      }
      index += 1
    }
    if !isComment { hasNoMoreTags = true }
    position = isComment ? bytes.count : position
    return isComment ? .text([]) : nil
  }

  private mutating func skipContent(of name: String) {
    let end = Array("</\(name)".utf8)
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "<"),
        bytes[position...].prefix(end.count).map({ $0 | 0x20 }).elementsEqual(end.map { $0 | 0x20 })
      {
        return
      }
      position += 1
    }
  }

  /// The value of `href`.
  private func reference(in attributes: ArraySlice<UInt8>) -> String? {
    let key = Array("href=".utf8)
    guard
      let found = attributes.indices.first(where: { index in
        attributes[index...].prefix(key.count).map { $0 | 0x20 }.elementsEqual(key.map { $0 | 0x20 })
      })
    else { return nil }
    var rest = attributes[(found + key.count)...]
    var value: ArraySlice<UInt8>
    if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      rest = rest.dropFirst()
      value = rest.prefix { $0 != quote }
    } else {
      value = rest.prefix { $0 > 0x20 }
    }
    value = value.drop { $0 <= 0x20 }
    return TitleText.plain(String(decoding: value, as: UTF8.self))
  }

  private static func isName(_ byte: UInt8) -> Bool {
    byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z") || byte >= 48 && byte <= 57
  }
}
