internal import FeedKit
internal import PodcastModel

/// A link to a podcast that is no feed's address: of a directory, of another player, or of a button on a page.
package enum PodcastLink: Hashable, Sendable {
  case apple(Int64)
  case podcastIndex(Int64)
  case feed(String)
  /// What has no feed; a line for people.
  case unsupported(String)

  package init?(_ text: String) {
    guard let link = Self.link(text) else { return nil }
    self = link
  }

  private static func link(_ text: String) -> PodcastLink? {
    if text.lowercased().hasPrefix("id:"), let number = text.dropFirst(3).wholeNumber {
      return .apple(number)
    }
    guard let parts = SubscriptionAddress.typed(text).first?.parts, let host = parts.host else { return nil }
    let segments = parts.path.split(separator: "/")
    switch host.hasPrefix("www.") ? String(host.dropFirst(4)) : host {
    case "podcasts.apple.com", "itunes.apple.com", "embed.podcasts.apple.com", "geo.itunes.apple.com":
      let id = segments.last { $0.hasPrefix("id") && $0.dropFirst(2).wholeNumber != nil }?.dropFirst(2)
      return (id ?? field("id", parts.query))?.wholeNumber.map(apple)
    case "overcast.fm" where segments.first?.hasPrefix("itunes") == true:
      return segments[0].dropFirst(6).wholeNumber.map(apple)
    case "pca.st" where segments.count >= 2 && segments[0] == "itunes":
      return segments[1].wholeNumber.map(apple)
    case "podcastindex.org" where segments.count >= 2 && segments[0] == "podcast":
      return segments[1].wholeNumber.map(podcastIndex)
    case "antennapod.org" where segments.starts(with: ["deeplink", "subscribe"]):
      return field("url", parts.query).map {
        .feed(String(decoding: PercentEncoding.decode($0.utf8), as: UTF8.self))
      }
    case "subscribeonandroid.com":
      let address = parts.target.drop { $0 == "/" }
      return address.isEmpty ? nil : .feed(String(address))
    case "youtube.com", "m.youtube.com", "music.youtube.com", "youtu.be":
      return .unsupported("this is YouTube, which is not supported: a podcast needs a feed")
    default: return nil
    }
  }

  private static func field(_ name: String, _ query: Substring?) -> Substring? {
    query?.split(separator: "&").first { $0.hasPrefix(name + "=") }?.dropFirst(name.utf8.count + 1)
  }
}
