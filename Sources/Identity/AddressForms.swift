package import PodcastModel

/// An enclosure's address without what may change while the episode stays the same, in three steps: each says
/// less, and proves less.
package struct AddressForms: Sendable {
  /// All but the scheme, the fragment and the case of the host.
  let whole: String
  /// Without signatures, and without the trackers that hosts put before an address.
  package let unsigned: String
  /// Without what a host may use for a session or a time, or for an episode's number: none of them can be told
  /// from its name (`sid`, `ts`, `st`, `se`).
  let bare: String
  /// Without what looks like the token of one answer, and, where the file's name has a number, without all that is asked
  /// for; nil where that is nothing.
  let withoutTokens: String?
  /// The last segment of the path.
  let fileName: String
  /// Whether that may be the name of one episode, whatever the query says: "play" is none.
  let isFileNamed: Bool
  /// Its name has a number, as that of one episode has, and is not made of a token.
  let isFileNumbered: Bool
  /// Who sends it: the host behind the trackers.
  let host: String
  /// The file's name, or what is asked for, has a number, as that of one episode has.
  let isNumbered: Bool
  /// It says itself that it is the newest, whichever that is.
  let isLatest: Bool

  package init(_ address: WebAddress) {
    let text = address.forRequest.prefix { $0 != "#" }
    var rest = text
    if let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") {
      rest = text[text.index(colon, offsetBy: 3)...]
    }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let first = rest[..<end].lowercased()
    let mark = rest.firstIndex(of: "?") ?? rest.endIndex
    let path = end < mark ? String(rest[end..<mark]) : ""
    let query = mark < rest.endIndex ? rest[rest.index(after: mark)...].split(separator: "&") : []
    let segments = path.split(separator: "/")
    fileName = segments.last.map(String.init) ?? ""
    whole = first + path + Self.joined(query)
    let place = Self.withoutTrackers(first, segments)
    host = String(place.prefix { $0 != "/" })
    let unsignedQuery = query.filter { !VolatileKeys.isSignature(Self.key($0)) }
    unsigned = place + Self.joined(unsignedQuery)
    bare = place + Self.joined(unsignedQuery.filter { !VolatileKeys.mayBeSession(Self.key($0)) })
    let stem = fileName.prefix { $0 != "." }
    let isFileToken = AddressTokens.isToken(fileName[...])
    isFileNumbered = !isFileToken && stem.contains(where: \.isNumber)
    isFileNamed = stem.count >= 12 || stem.contains(where: \.isNumber)
    isNumbered =
      stem.contains(where: \.isNumber)
      || unsignedQuery.contains { Self.value($0).contains(where: \.isNumber) }
    isLatest =
      !isFileNumbered
      && stem.lowercased().split { !$0.isLetter }.contains { Self.wordsForNewest.contains(String($0)) }
    withoutTokens = AddressTokens.without(place, unsignedQuery)
  }

  /// As hosts call what is always the newest.
  private static let wordsForNewest: Set<String> = [
    "latest", "newest", "current", "now", "today", "recent", "aktuell", "aktuelle", "heute", "neueste",
    "laatste",
    "actuel", "dernier", "derniere", "ultimo", "ultima", "ultime", "oggi", "hoy", "hoje", "senaste",
    "seneste", "siste",
  ]

  /// Another address on the same host that differs in nothing but numbers.
  func isSuccessor(of other: AddressForms) -> Bool {
    unsigned != other.unsigned && host == other.host
      && Self.withoutNumbers(unsigned) == Self.withoutNumbers(other.unsigned)
  }

  private static func withoutNumbers(_ text: String) -> [Substring] { text.split(whereSeparator: \.isNumber) }

  /// Whether a guid is an address, and this one.
  static func isSame(_ guid: String, as address: AddressForms) -> Bool {
    guid.contains("/") && AddressForms(WebAddress(guid)).unsigned == address.unsigned
  }

  /// Empty for the name of a format, which has a number as well ("format=mp3").
  private static func value(_ pair: Substring) -> Substring {
    let value = pair.drop { $0 != "=" }.dropFirst()
    return fileEndings.contains(value.lowercased()) ? "" : value
  }

  private static func key(_ pair: Substring) -> String { pair.prefix { $0 != "=" }.lowercased() }

  private static func joined(_ query: [Substring]) -> String {
    query.isEmpty ? "" : "?" + query.joined(separator: "&")
  }

  /// From the last segment on that is a host's name: trackers lead to the address that is in their own path
  /// ("dts.podtrac.com/redirect.mp3/media.example/1.mp3").
  private static func withoutTrackers(_ host: String, _ segments: [Substring]) -> String {
    let last = segments.indices.dropLast().last { isHostName(segments[$0]) }
    guard let last else { return ([host] + segments.map(String.init)).joined(separator: "/") }
    return ([segments[last].lowercased()] + segments[(last + 1)...].map(String.init)).joined(separator: "/")
  }

  private static func isHostName(_ segment: Substring) -> Bool {
    let labels = segment.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.count >= 2, let top = labels.last, (2...10).contains(top.utf8.count),
      top.utf8.allSatisfy({ (97...122).contains($0 | 0x20) }), !fileEndings.contains(top.lowercased())
    else { return false }
    return labels.allSatisfy { label in
      !label.isEmpty
        && label.utf8.allSatisfy { (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == 45 }
    }
  }

  /// As trackers end their own names, to look like the file.
  private static let fileEndings: Set<String> = [
    "mp", "m4a", "mp3", "mp4", "ogg", "opus", "aac", "wav", "flac",
  ]
}
