package import PodcastModel

/// Addresses that people and lists give for feeds.
package enum SubscriptionAddress {
  /// The feed's http or https address: `feed:`, `pcast:`, `itpc:` and the like are other words for http, and
  /// may stand before the real scheme ("feed:https://…"); a host without a scheme is meant as https.
  /// - Returns: nil for anything else.
  package static func normalized(_ text: String) -> WebAddress? {
    var rest = Substring(FeedText.oneLine(text))
    while let colon = rest.firstIndex(of: ":"), aliases.contains(rest[..<colon].lowercased()) {
      let after = rest[rest.index(after: colon)...]
      let isWhole = after.lowercased().hasPrefix("http:") || after.lowercased().hasPrefix("https:")
      if isWhole {
        rest = after
      } else {
        let host = after.drop { $0 == "/" }
        rest =
          host.lowercased().hasPrefix("http:") || host.lowercased().hasPrefix("https:")
          ? host : "http://\(host)"
      }
    }
    if let absolute = FeedAddress.absolute(String(rest), base: nil) { return WebAddress(absolute) }
    let host = rest.prefix { $0 != "/" && $0 != "?" }
    guard host.contains("."), !host.contains(where: { $0 == " " || $0 == "@" }), host.first != "." else {
      return nil
    }
    guard !rest.contains("://"), !host.contains(":") || host.last?.isNumber == true else { return nil }
    return FeedAddress.absolute("https://" + rest, base: nil).map { WebAddress($0) }
  }

  private static let aliases: Set<String> = [
    "feed", "feeds", "pcast", "pcasts", "itpc", "itpcs", "podcast", "rss", "itms-podcast", "itms-podcasts",
  ]
}
