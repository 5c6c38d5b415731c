package import PodcastModel

/// Addresses that people and lists give for feeds.
package enum SubscriptionAddress {
  /// The feed's http or https address. `feed:`, `pcast:`, `itpc:` and the like are other words for http, and may stand
  /// before the real scheme ("feed:https://…"), whose colon browsers leave out ("pcast://https//…"). A host without a
  /// scheme is meant as https. Quotes and angle brackets around it do not count; several addresses are none.
  /// - Returns: nil for anything else.
  package static func normalized(_ text: String) -> WebAddress? {
    let text = bare(text)
    guard !text.split(whereSeparator: \.isWhitespace).dropFirst().contains(where: { $0.contains("://") })
    else {
      return nil
    }
    var rest = Substring(text)
    while let colon = rest.firstIndex(of: ":"), aliases.contains(rest[..<colon].lowercased()) {
      let after = rest[rest.index(after: colon)...].drop { $0 == "/" }
      if let scheme = ["https", "http"].first(where: { after.lowercased().hasPrefix($0 + "//") }) {
        rest = Substring("\(scheme):\(after.dropFirst(scheme.count))")
      } else {
        let isWhole = after.lowercased().hasPrefix("http:") || after.lowercased().hasPrefix("https:")
        rest =
          isWhole || aliases.contains(after.prefix { $0 != ":" }.lowercased())
          ? after : Substring("http://\(after)")
      }
    }
    // "http:h.example/f" and "//h.example/f", as some write it.
    for scheme in ["https:", "http:", ""] where rest.lowercased().hasPrefix(scheme) {
      let place = rest.dropFirst(scheme.count)
      let host = place.drop { $0 == "/" }.prefix { $0 != "/" && $0 != "?" }
      if scheme.isEmpty ? place.hasPrefix("//") : place.first != "/", isHost(host) {
        rest = Substring((scheme.isEmpty ? "https:" : scheme) + "//" + place.drop { $0 == "/" })
      }
      break
    }
    if let absolute = FeedAddress.absolute(String(rest), base: nil) { return WebAddress(absolute) }
    let host = rest.prefix { $0 != "/" && $0 != "?" }
    guard host.contains("."), !host.contains(where: { $0 == " " || $0 == "@" }), host.first != "." else {
      return nil
    }
    guard !rest.contains("://"), !host.contains(":") || host.last?.isNumber == true else { return nil }
    return FeedAddress.absolute("https://" + rest, base: nil).map { WebAddress($0) }
  }

  /// Whether a link is one to a feed by its scheme.
  static func hasFeedScheme(_ href: String) -> Bool {
    href.firstIndex(of: ":").map { aliases.contains(FeedText.oneLine(String(href[..<$0])).lowercased()) }
      ?? false
  }

  private static let aliases: Set<String> = [
    "feed", "feeds", "pcast", "pcasts", "itpc", "itpcs", "podcast", "rss", "itms-podcast", "itms-podcasts",
  ]
}
