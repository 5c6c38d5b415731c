package import PodcastModel

/// Feeds that a web page names (`<link rel="alternate" type="application/rss+xml" href="…">`, RSS
/// autodiscovery).
package enum FeedLinks {
  /// How much of a page is looked at, in bytes.
  private static let limit = 1 << 20
  private static let types: Set<String> = [
    "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/xml", "text/xml",
  ]

  /// The addresses of the feeds, absolute, in the page's order.
  /// - Parameter baseURL: where the page came from.
  package static func find(html: [UInt8], baseURL: WebAddress) -> [WebAddress] {
    var base = baseURL.forRequest
    var found: [WebAddress] = []
    var rest = html.prefix(limit)
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[(start + 1)...]
      let name = lowercased(rest.prefix { isNameByte($0) })
      guard name == "link" || name == "base", let end = endOfTag(rest) else { continue }
      let attributes = attributes(of: rest[(rest.startIndex + name.utf8.count)..<end])
      rest = rest[(end + 1)...]
      guard let href = attributes["href"] else { continue }
      if name == "base" {
        base = FeedAddress.absolute(href, base: baseURL.forRequest) ?? base
        continue
      }
      let relations = attributes["rel"]?.lowercased().split(whereSeparator: \.isWhitespace) ?? []
      let type = attributes["type"]?.lowercased().prefix { $0 != ";" && $0 != " " } ?? ""
      guard relations.contains("alternate"), types.contains(String(type)),
        let url = FeedAddress.absolute(href, base: base).map({ WebAddress($0) }), !found.contains(url)
      else { continue }
      found.append(url)
    }
    return found
  }

  /// Where the tag ends: not at a ">" in quotes.
  private static func endOfTag(_ bytes: ArraySlice<UInt8>) -> Int? {
    var quote: UInt8?
    for (index, byte) in zip(bytes.indices, bytes.prefix(8192)) {
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return index
      }
    }
    return nil
  }

  /// The first attribute of each name counts (WHATWG HTML §13.2.5.33).
  private static func attributes(of bytes: ArraySlice<UInt8>) -> [String: String] {
    var result: [String: String] = [:]
    var rest = bytes
    while true {
      rest = rest.drop { isBlank($0) || $0 == UInt8(ascii: "/") }
      let name = rest.prefix { !isBlank($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "/") }
      if name.isEmpty {
        if rest.isEmpty { return result }
        rest = rest.dropFirst()
        continue
      }
      rest = rest[name.endIndex...].drop(while: isBlank)
      guard rest.first == UInt8(ascii: "=") else { continue }
      rest = rest.dropFirst().drop(while: isBlank)
      var value = rest.prefix { !isBlank($0) }
      if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
        value = rest.dropFirst().prefix { $0 != quote }
        rest = rest[value.endIndex...].dropFirst()
      } else {
        rest = rest[value.endIndex...]
      }
      let key = lowercased(name)
      if result[key] == nil { result[key] = resolved(value) }
    }
  }

  private static func resolved(_ value: ArraySlice<UInt8>) -> String {
    var bytes: [UInt8] = []
    var index = value.startIndex
    while index < value.endIndex {
      if value[index] == UInt8(ascii: "&"), let entity = HTMLEntity.resolve(value[index...]) {
        bytes += entity.text.utf8
        index += entity.length
      } else {
        bytes.append(value[index])
        index += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self).lowercased()
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private static func isNameByte(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }
}
