internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

struct FeedAnswer: Sendable {
  enum Content: Sendable {
    /// The answer has no feed: its status is neither 200 nor 203.
    case none
    case same
    case feed(FetchedFeed)
  }

  var head: HTTPResponseHead
  var content = Content.none
  /// Of the body.
  var bytes = 0
  /// Of the body.
  var digest: Int64?
}

/// A feed as it came, its episodes made ready for the catalogue.
@dynamicMemberLookup
struct FetchedFeed: Sendable {
  /// All but its episodes.
  let channel: ParsedFeed
  let episodes: [IncomingEpisode]

  init(_ feed: consuming ParsedFeed, now: Int64) {
    episodes = feed.episodes.compactMap { IncomingEpisode($0, now: now) }
    feed.episodes = []
    channel = feed
  }

  subscript<Value>(dynamicMember fact: KeyPath<ParsedFeed, Value>) -> Value { channel[keyPath: fact] }
}

extension HTTPResponseHead {
  /// Where the feed is said to have moved for good: the end of the redirects that begin the way, as far as
  /// all are permanent (RFC 9110 §15.4.2, §15.4.9).
  var permanentLocation: WebAddress? {
    redirects.prefix { $0.status == 301 || $0.status == 308 }.last.map { WebAddress($0.location) }
  }

  /// Where redirects have led; nil where there were none.
  var place: WebAddress? { redirects.isEmpty ? nil : WebAddress(effectiveURL) }
}

struct FeedFailure: Error, Sendable {
  enum Cause: Sendable {
    /// No answer came, or not all of it.
    case request(HTTPError)
    case status(Int)
    case notAFeed
    /// The address leads to another podcast's feed (`SameShow`).
    case anotherShow
    /// This machine could not do it: no room, no memory.
    case ownFault
  }

  var cause: Cause
  var error: CatalogError
  /// The server's wish, in seconds.
  var retryAfter: Int64?
  /// What a page that is no feed names as feeds.
  var links: [WebAddress] = []
  var isFromPrivateHost = false

  init(_ error: HTTPError) { (cause, self.error) = (.request(error), CatalogError(error)) }

  init(notAFeed error: FeedError, head: HTTPResponseHead) {
    if case .storage(let reason) = error {
      (cause, self.error) = (.ownFault, CatalogError(reason.errno, reason.description))
      return
    }
    let host = WebAddress(head.effectiveURL).host ?? "the server"
    (cause, self.error) = (.notAFeed, CatalogError(.EPROTO, "what \(host) sent \(error)"))
    if case .notAFeed(let found) = error {
      (links, isFromPrivateHost) = (found.feeds, head.isFromPrivateHost)
    }
  }

  init(status head: HTTPResponseHead, now: Int64) {
    cause = .status(head.status)
    let host = WebAddress(head.effectiveURL).host ?? "the server"
    if head.status / 100 != 2 && head.status != 304 {
      error = CatalogError(status: head.status, host: host)
    } else {
      error = CatalogError(.EPROTO, "HTTP \(head.status) instead of a feed from \(host)")
    }
    retryAfter = head.retryAfter(now: now)
  }

  init(anotherShow feed: FetchedFeed, head: HTTPResponseHead, of state: FeedState) {
    let host = state.feedURL.host ?? "the server"
    let target = WebAddress(head.effectiveURL).host
    let place = target == host ? "" : target.map { " on \($0)" } ?? ""
    let title = feed.title.map { "“\(TitleText.line($0).prefix(80))”" } ?? "one without a title"
    cause = .anotherShow
    error = CatalogError(
      .EPROTO,
      "\(host) leads to another podcast, \(title)\(place): nothing is taken from there; "
        + "subscribe to that one if it is meant")
  }
}

extension FeedFailure {
  private var httpCode: HTTPError.Code? {
    if case .request(let error) = cause { return error.code }
    return nil
  }

  var isCancelled: Bool { httpCode == .cancelled }
  var isRefusedAddress: Bool { httpCode == .refusedAddress }
  /// The host redirects, and may not.
  var leadsElsewhere: Bool { httpCode == .tooManyRedirects }

  var isGone: Bool {
    if case .status(410) = cause { return true }
    return false
  }

  /// Another network may give another answer: no host has answered, or a page that some networks show to everybody.
  var mayBeTheNetworks: Bool {
    switch cause {
    case .request(let error): Self.networkCodes.contains(error.code)
    case .notAFeed, .anotherShow: true
    case .status, .ownFault: false
    }
  }

  private static let networkCodes: Set<HTTPError.Code> = [
    .nameNotResolved, .connectionRefused, .networkUnreachable, .timedOut, .stalled, .tls, .connectionLost,
    .proxy,
  ]

  /// Of an address in a private network that nobody has typed.
  var withPrivateAdvice: FeedFailure {
    var failure = self
    failure.error.message += ": podcastfs subscribe ADDRESS follows it anyway"
    return failure
  }
}
