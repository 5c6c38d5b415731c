/// Titles as a reader of feeds shows them.
package enum TitleText {
  /// The title without what was escaped once too often: character references resolved, and tags of HTML
  /// left out. Other text in angle brackets stays.
  package static func plain(_ title: String) -> String {
    let bytes = Array(title.utf8)
    guard bytes.contains(UInt8(ascii: "&")) || bytes.contains(UInt8(ascii: "<")) else { return title }
    return String(decoding: withoutTags(resolvingReferences(bytes)), as: UTF8.self)
  }

  private static func resolvingReferences(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "&"), let found = HTMLEntity.resolve(bytes[index...]) {
        output += found.text.utf8
        index += found.length
      } else {
        output.append(bytes[index])
        index += 1
      }
    }
    return output
  }

  private static func withoutTags(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "<"), let length = tagLength(bytes[index...]) {
        index += length
      } else {
        output.append(bytes[index])
        index += 1
      }
    }
    return output
  }

  /// The length of the tag at the start of `bytes`, where it is one that titles have.
  private static func tagLength(_ bytes: ArraySlice<UInt8>) -> Int? {
    var rest = bytes.dropFirst().prefix(300)
    if rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
    let name = rest.prefix { ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") }
    guard tags.contains(String(decoding: name, as: UTF8.self).lowercased()),
      let next = rest.dropFirst(name.count).first,
      next == UInt8(ascii: ">") || next == UInt8(ascii: "/") || next == UInt8(ascii: " "),
      let end = rest.firstIndex(of: UInt8(ascii: ">"))
    else { return nil }
    return end - bytes.startIndex + 1
  }

  private static let tags: Set<String> = [
    "a", "abbr", "b", "big", "br", "cite", "code", "div", "em", "font", "i", "img", "mark", "p", "q", "s",
    "small", "span", "strike", "strong", "sub", "sup", "tt", "u",
  ]
}
