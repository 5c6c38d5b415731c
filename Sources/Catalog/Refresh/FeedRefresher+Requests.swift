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

  /// - Parameter conditional: whose validators are sent; nil for the whole feed.
  func feedRequest(
    _ url: WebAddress, conditional state: FeedState? = nil, privateHosts: PrivateHosts
  ) -> HTTPRequest {
    var request = requests.request(url, seconds: Self.feedTimeout, bytes: Self.longestFeed)
    // What servers say of a feed's compression is often wrong: `FeedBody` looks at the bytes.
    request.decompresses = false
    request.headers = [
      ("Accept", "application/rss+xml, application/atom+xml, application/xml;q=0.9, */*;q=0.5")
    ]
    if let etag = state?.etag { request.headers.append(("If-None-Match", etag)) }
    if let date = state?.lastModified { request.headers.append(("If-Modified-Since", date)) }
    if let agent = feedSettings(url)?.userAgent { request.userAgent = agent }
    request.allowsPrivateHosts = privateHosts != .refused
    if privateHosts == .allowedWithoutRedirects { request.maximumRedirects = 0 }
    return request
  }

  /// What the configuration file says of this feed, however it writes the address.
  func feedSettings(_ url: WebAddress) -> FeedSettings? { requests.feeds[FeedKey.text(url)] }
}
