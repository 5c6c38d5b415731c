internal import Configuration
internal import HTTPKit
internal import PodcastModel

// Asking for feeds.
extension FeedRefresher {
  /// The most bytes of a feed, after decompression.
  static let longestFeed: Int64 = 64 << 20
  /// Seconds for a whole feed.
  static let feedTimeout = 180.0

  /// How far a request may go onto private hosts.
  enum PrivateHosts: Sendable {
    case refused
    /// The address itself may be private, but leads nowhere else.
    case allowedWithoutRedirects
    case allowed
  }

  /// Who names a feed on a private host himself may have it, on hosts that are private by their very name;
  /// an ordinary name is taken for a public one until it proves private.
  static func privateHosts(_ state: FeedState) -> PrivateHosts {
    if state.isPrivate { return .allowed }
    guard state.mayBePrivate, let host = state.feedURL.host else { return .refused }
    return PrivateHostName.isPrivate(host) ? .allowed : .refused
  }

  /// - Parameters:
  ///   - podcast: whose settings count; nil for what the configuration says of `url`.
  ///   - isConditional: the podcast's validators are sent.
  ///   - bytes: the longest body.
  func feedRequest(
    _ url: WebAddress, of podcast: FeedState?, isConditional: Bool = false, privateHosts: PrivateHosts,
    bytes: Int64 = longestFeed
  ) -> HTTPRequest {
    var request = requests.request(url, seconds: Self.feedTimeout, bytes: bytes)
    let state = isConditional ? podcast : nil
    // What servers say of a feed's compression is often wrong: `FeedBody` looks at the bytes.
    request.decompresses = false
    request.headers = [
      ("Accept", "application/rss+xml, application/atom+xml, application/xml;q=0.9, */*;q=0.5")
    ]
    if let etag = state?.etag { request.headers.append(("If-None-Match", etag)) }
    if let date = state?.lastModified { request.headers.append(("If-Modified-Since", date)) }
    let keys = podcast?.keys ?? [FeedKey.text(url)]
    if let agent = feedSettings(keys)?.userAgent { request.userAgent = agent }
    request.allowsPrivateHosts = privateHosts != .refused
    if privateHosts == .allowedWithoutRedirects { request.maximumRedirects = 0 }
    return request
  }

  /// What the configuration file says of a feed, however it writes the address.
  /// - Parameter keys: of its address, and of those that it has moved away from.
  func feedSettings(_ keys: [String]) -> FeedSettings? {
    keys.lazy.compactMap { [requests] key in requests.feeds[key] }.first
  }
}
