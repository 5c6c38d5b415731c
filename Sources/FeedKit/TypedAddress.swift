package import PodcastModel

// Addresses as people type and paste them.
extension SubscriptionAddress {
  /// The addresses that a text may mean, to be tried in this order: without quotes, angle brackets and blanks around it;
  /// where it has no scheme, by https, then by http. Empty for no address.
  package static func typed(_ text: String) -> [WebAddress] {
    var text = bare(text)
    if text.hasPrefix("//") { text.removeFirst(2) }
    if hasScheme(text) { return normalized(text).map { [$0] } ?? [] }
    let host = text.prefix { $0 != "/" && $0 != "?" }
    guard !text.isEmpty, !text.contains(where: \.isWhitespace), isHost(host) else { return [] }
    return ["https", "http"].compactMap { normalized("\($0)://\(text)") }
  }

  /// Whether a text is an address, and no words: it may hold a token or a password.
  package static func isAddress(_ text: String) -> Bool {
    bare(text).split(whereSeparator: \.isWhitespace).contains { word in
      if word.contains("://") || word.hasPrefix("//") && word.count > 2 { return true }
      if hasScheme(String(word)), word.contains(where: { $0 == "/" || $0 == "." }) { return true }
      let end = word.firstIndex { $0 == "/" || $0 == "?" }
      let host = word[..<(end ?? word.endIndex)]
      // Of a host alone nothing is secret, and podcasts are called so.
      return host.contains("@") && host.contains(":") || end != nil && isHost(host)
    }
  }

  /// Without what people and programs put around an address ("<URL:…>", RFC 3986 Appendix C), and with ASCII's colons,
  /// dots and slashes for their look-alikes, where it has no "://".
  static func bare(_ text: String) -> String {
    var rest = Substring(FeedText.oneLine(text))
    if !rest.contains("://"), !rest.utf8.allSatisfy({ $0 < 0x80 }) {
      rest = Substring(String(rest.map { lookAlikes[$0] ?? $0 }))
    }
    while let first = rest.first, let last = rest.last, rest.count > 1, pairs.contains([first, last]) {
      rest = Substring(FeedText.oneLine(String(rest.dropFirst().dropLast())))
    }
    return String(rest.lowercased().hasPrefix("url:") ? rest.dropFirst(4) : rest)
  }

  private static let lookAlikes: [Character: Character] = [
    "：": ":", "∶": ":", "／": "/", "∕": "/", "⁄": "/", "⧸": "/", "．": ".", "＠": "@",
  ]

  private static let pairs: Set<[Character]> = [
    ["\"", "\""], ["'", "'"], ["<", ">"], ["(", ")"], ["“", "”"], ["„", "“"], ["‘", "’"], ["«", "»"],
    ["`", "`"],
  ]

  private static func hasScheme(_ text: String) -> Bool {
    guard let colon = text.firstIndex(of: ":") else { return false }
    let scheme = text[..<colon].lowercased()
    return schemes.contains(scheme) || text[colon...].hasPrefix("://")
  }

  /// A name with dots, `localhost`, or anything before a port's number; in front of it perhaps a user's name.
  static func isHost(_ text: Substring) -> Bool {
    let name = text.split(separator: "@", omittingEmptySubsequences: false).last ?? text
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 2, let port = Int(parts[1]), (1...65535).contains(port) {
      return parts[0].contains(where: \.isLetter) || isNumeric(parts[0])
    }
    guard parts.count == 1 || name.hasPrefix("[") else { return false }
    if name.lowercased() == "localhost" || name.hasPrefix("[") { return true }
    return name.contains(".") && !name.hasPrefix(".") && name.last?.isLetter == true
      || isNumeric(name)
  }

  private static func isNumeric(_ host: Substring) -> Bool {
    host.split(separator: ".").count == 4 && host.allSatisfy { $0 == "." || $0.isNumber }
  }

  private static let schemes: Set<String> = [
    "http", "https", "feed", "feeds", "pcast", "pcasts", "itpc", "itpcs", "podcast", "rss", "itms-podcast",
    "itms-podcasts",
  ]
}
