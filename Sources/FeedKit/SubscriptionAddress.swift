package import PodcastModel

package enum SubscriptionAddress {
  /// Other words for http, some of them before the real scheme.
  private static let aliases: Set<String> = [
    "feed", "feeds", "pcast", "pcasts", "itpc", "itpcs", "podcast", "rss", "itms-podcast", "itms-podcasts",
  ]

  /// The feed's http or https address. `feed:`, `pcast:`, `itpc:` and the like are other words for http, and may stand
  /// before the real scheme ("feed:https://…"), whose colon browsers leave out ("pcast://https//…"). A host without a
  /// scheme is meant as https. Quotes and angle brackets around it do not count; several addresses are none.
  package static func normalized(_ text: String) -> WebAddress? {
    let text = bare(text)
    let words = text.split(whereSeparator: \.isWhitespace)
    if words.dropFirst().contains(where: { $0.contains("://") }) { return nil }
    var address = Substring(text)
    while let (alias, rest) = scheme(of: address), aliases.contains(alias) {
      address = rest.drop { $0 == "/" }
      if let scheme = ["https", "http"].first(where: { address.lowercased().hasPrefix($0 + "//") }) {
        address = "\(scheme):\(address.dropFirst(scheme.count))"
      }
      if scheme(of: address) == nil { address = "http://\(address)" }
    }
    if let (scheme, rest) = scheme(of: address) {
      // "http:h.example/f", as some write it.
      let isBare = rest.first != "/" && isHost(host(rest))
      return absolute(isBare ? "\(scheme)://\(rest)" : address)
    }
    if address.hasPrefix("//") { return absolute("https:" + address) }
    let host = host(address)
    guard host.contains("."), host.first != ".", !host.contains(where: { $0 == " " || $0 == "@" }),
      !host.contains(":") || host.last?.isNumber == true
    else { return nil }
    return absolute("https://" + address)
  }

  /// The feed's address in a line of a list: it has a scheme, a host that may be one, and no blanks.
  static func listed(_ line: String) -> WebAddress? {
    let text = bare(line)
    guard scheme(of: text[...]) != nil, !text.contains(where: { $0.isWhitespace || $0 == "\u{FFFD}" }),
      let address = normalized(text), let host = address.host
    else { return nil }
    let isName =
      host.contains(where: \.isLetter)
      && host.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" || $0 == "_" }
    return isName || isHost(host[...]) || host.contains(":") ? address : nil
  }

  private static func absolute(_ address: Substring) -> WebAddress? { FeedAddress.absolute(String(address)) }

  /// The addresses that a text may mean, to be tried in this order: without quotes, angle brackets and blanks around it;
  /// where it has no scheme, by https, then by http. Empty for no address.
  package static func typed(_ text: String) -> [WebAddress] {
    var text = bare(text)
    if text.hasPrefix("//") { text.removeFirst(2) }
    if scheme(of: text[...]) != nil { return normalized(text).map { [$0] } ?? [] }
    guard !text.contains(where: \.isWhitespace), isHost(host(text[...])) else { return [] }
    return ["https", "http"].compactMap { normalized("\($0)://\(text)") }
  }

  /// Whether a text is an address, and no words: it may hold a token or a password.
  package static func isAddress(_ text: String) -> Bool {
    ascii(bare(text)).split(separator: " ").contains { word in
      if word.contains("://") || word.hasPrefix("//") && word.count > 2 { return true }
      if scheme(of: word) != nil, word.contains(where: { $0 == "/" || $0 == "." }) { return true }
      let host = host(word)
      // Of a host alone nothing is secret, and podcasts are called so.
      return host.contains("@") && host.contains(":") || host.endIndex < word.endIndex && isHost(host)
    }
  }

  /// The scheme in lower case, and what follows its colon; nil where there is none of http and feeds, and no "://".
  private static func scheme(of text: Substring) -> (name: String, rest: Substring)? {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let (name, rest) = (text[..<colon].lowercased(), text[text.index(after: colon)...])
    let isKnown = aliases.contains(name) || name == "http" || name == "https" || rest.hasPrefix("//")
    return isKnown ? (name, rest) : nil
  }

  private static func host(_ text: Substring) -> Substring { text.prefix { $0 != "/" && $0 != "?" } }

  private static let lookAlikes: [Unicode.Scalar: Unicode.Scalar] = [
    "：": ":", "∶": ":", "／": "/", "∕": "/", "⁄": "/", "⧸": "/", "．": ".", "＠": "@",
  ]

  /// Without the quotes and brackets that people and programs put around an address, and with ASCII's colons, dots and
  /// slashes for their look-alikes (names of files cannot have them), where it has no "://".
  private static func bare(_ text: String) -> String {
    let marks = "\"'<>“”„‘’«»` "
    let text = FeedText.oneLine(text)
    let meant = text.contains("://") ? text : mapped(text) { lookAlikes[$0] ?? $0 }
    var rest = Substring(meant).drop(while: marks.contains)
    while let last = rest.last, marks.contains(last) { rest.removeLast() }
    return String(rest)
  }

  /// The same words in ASCII, with "a" for any letter. Swift takes a slash and a combining mark behind it for one character,
  /// which is no slash.
  private static func ascii(_ text: String) -> String {
    mapped(text) { scalar in
      if let alike = lookAlikes[scalar] { return alike }
      let properties = scalar.properties
      if properties.isWhitespace { return " " }
      return scalar.isASCII
        ? scalar : properties.isAlphabetic ? "a" : properties.numericType != nil ? "1" : nil
    }
  }

  private static func mapped(_ text: String, _ map: (Unicode.Scalar) -> Unicode.Scalar?) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.compactMap(map)))
  }

  /// A name with dots, `localhost`, or anything before a port's number; in front of it perhaps a user's name.
  private static func isHost(_ text: Substring) -> Bool {
    let name = text.split(separator: "@", omittingEmptySubsequences: false).last ?? text
    if name.hasPrefix("[") || name.lowercased() == "localhost" { return true }
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    let isNumeric =
      parts[0].split(separator: ".").count == 4 && parts[0].allSatisfy { $0 == "." || $0.isNumber }
    if parts.count == 2, let port = Int(parts[1]), (1...65535).contains(port) {
      return isNumeric || parts[0].contains(where: \.isLetter)
    }
    guard parts.count == 1 else { return false }
    return isNumeric || name.contains(".") && !name.hasPrefix(".") && name.last?.isLetter == true
  }
}
