internal import FeedKit
internal import PodcastModel

/// A link to a podcast that is no feed's address: of a directory, of another player, or of a button on a page.
package enum PodcastLink: Hashable, Sendable {
  case apple(Int64)
  case podcastIndex(Int64)
  case feed(String)
  /// What has no feed; a line for people.
  case unsupported(String)

  /// - Returns: nil for any other address.
  package init?(_ text: String) {
    if text.lowercased().hasPrefix("id:"), let number = Self.number(text.dropFirst(3)) {
      self = .apple(number)
      return
    }
    guard let parts = SubscriptionAddress.typed(text).first?.parts, var host = parts.host else { return nil }
    if host.hasPrefix("www.") { host.removeFirst(4) }
    let segments = parts.path.split(separator: "/")
    switch host {
    case "podcasts.apple.com", "itunes.apple.com", "embed.podcasts.apple.com", "geo.itunes.apple.com":
      let number = segments.last { $0.hasPrefix("id") && Self.number($0.dropFirst(2)) != nil }?.dropFirst(2)
      guard let number = (number ?? Self.field("id", parts.query)).flatMap({ Self.number($0) }) else {
        return nil
      }
      self = .apple(number)
    case "overcast.fm" where segments.first?.hasPrefix("itunes") == true:
      guard let number = Self.number(segments[0].dropFirst(6)) else { return nil }
      self = .apple(number)
    case "pca.st" where segments.count >= 2 && segments[0] == "itunes":
      guard let number = Self.number(segments[1]) else { return nil }
      self = .apple(number)
    case "podcastindex.org" where segments.count >= 2 && segments[0] == "podcast":
      guard let number = Self.number(segments[1]) else { return nil }
      self = .podcastIndex(number)
    case "antennapod.org":
      guard segments.starts(with: ["deeplink", "subscribe"]), let feed = Self.field("url", parts.query) else {
        return nil
      }
      self = .feed(String(decoding: PercentEncoding.decode(feed.utf8), as: UTF8.self))
    case "subscribeonandroid.com":
      let feed = parts.target.drop { $0 == "/" }
      guard !feed.isEmpty else { return nil }
      self = .feed(String(feed))
    case "youtube.com", "m.youtube.com", "music.youtube.com", "youtu.be":
      self = .unsupported("this is YouTube, which is not supported: a podcast needs a feed")
    default: return nil
    }
  }

  private static func number(_ digits: Substring) -> Int64? {
    (1...18).contains(digits.utf8.count) && digits.utf8.allSatisfy { (48...57).contains($0) }
      ? Int64(digits) : nil
  }

  private static func field(_ name: String, _ query: Substring?) -> Substring? {
    query?.split(separator: "&").first { $0.hasPrefix(name + "=") }?.dropFirst(name.utf8.count + 1)
  }
}
