internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import PodcastModel

/// Requests as the settings want them.
struct RequestMaker: Sendable {
  let settings: Settings
  /// What the configuration file sets for single feeds, by `FeedKey`.
  let feeds: [String: FeedSettings]

  init(settings: Settings) {
    self.settings = settings
    feeds = Dictionary(
      settings.feeds.map {
        (FeedKey.text(SubscriptionAddress.normalized($0.key) ?? WebAddress($0.key)), $0.value)
      },
      uniquingKeysWith: { first, _ in first })
  }

  /// - Parameters:
  ///   - seconds: for the whole.
  ///   - bytes: the longest body.
  func request(_ url: WebAddress, seconds: Double, bytes: Int64) -> HTTPRequest {
    var request = HTTPRequest(url: url.forRequest)
    request.acceptsCompression = true
    request.userAgent = settings.effectiveUserAgent
    request.proxy = settings.proxy
    request.certificateAuthorities = settings.certificateAuthorities
    request.connectTimeout = min(settings.connectTimeout, seconds)
    request.stallTimeout = min(settings.stallTimeout, seconds)
    request.totalTimeout = seconds
    request.maximumBody = bytes
    return request
  }
}
