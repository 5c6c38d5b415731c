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
  /// Of the body; nil where what comes next is to be read whatever it is.
  var digest: Int64?
  /// Why some of the feed is missing, where it broke off.
  var cut: HTTPError?
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
  /// Whether the body is the whole document: a 203 is a 200 that a proxy has changed (RFC 9110 §15.3.4).
  fileprivate var isWhole: Bool { status == 200 || status == 203 }

  /// Where the feed is said to have moved for good: the end of the redirects that begin the way, as far as
  /// all are permanent (RFC 9110 §15.4.2, §15.4.9).
  var permanentLocation: WebAddress? {
    redirects.prefix { $0.status == 301 || $0.status == 308 }.last.map { WebAddress($0.location) }
  }

  /// Where redirects have led; nil where there were none.
  var place: WebAddress? { redirects.isEmpty ? nil : WebAddress(effectiveURL) }
}

/// Keeps a feed's bytes as they come. Used on the HTTP client's thread only: that makes it Sendable.
final class FeedReceiver: HTTPResponseReceiver, @unchecked Sendable {
  struct Received: Sendable {
    var head: HTTPResponseHead
    /// nil where the answer has no feed.
    var body: FeedBody?
    /// The connection ended before the body did.
    var breakOff: HTTPError?
  }

  private let completion: @Sendable (Result<Received, FeedFailure>) -> Void
  private var head: HTTPResponseHead?
  private var body: FeedBody?
  private var error: FeedError?

  init(_ completion: @escaping @Sendable (Result<Received, FeedFailure>) -> Void) {
    self.completion = completion
  }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    self.head = head
    guard head.isWhole else { return .proceed }
    return attempt { () throws(FeedError) in body = try FeedBody() }
  }

  func received(body: UnsafeRawBufferPointer) -> HTTPFlow {
    guard let whole = self.body else { return .proceed }
    return attempt { () throws(FeedError) in try whole.append(body) }
  }

  private func attempt(_ step: () throws(FeedError) -> Void) -> HTTPFlow {
    do throws(FeedError) {
      try step()
      return .proceed
    } catch {
      self.error = error
      return .abort
    }
  }

  func finished(_ httpError: HTTPError?) {
    guard let head else { return completion(.failure(FeedFailure(httpError ?? .cancelled))) }
    if let error { return completion(.failure(FeedFailure(notAFeed: error, head: head))) }
    // The status is the answer, however its page ends.
    if !head.isWhole, httpError?.code != .cancelled { return completion(.success(Received(head: head))) }
    // What has come before the end may be most of it.
    if let httpError, !Self.breakOffs.contains(httpError.code) || (body?.count ?? 0) == 0 {
      return completion(.failure(FeedFailure(httpError)))
    }
    completion(.success(Received(head: head, body: body, breakOff: httpError)))
  }

  private static let breakOffs: Set<HTTPError.Code> = [
    .shortBody, .connectionLost, .stalled, .timedOut,
  ]
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
    guard case .notAFeed(let found) = error else { return }
    (links, isFromPrivateHost) = (found.feeds, head.isFromPrivateHost)
    if found.kind == .data, let coding = head.contentEncoding {
      self.error.message += " (its compression is called “\(coding.prefix(20))”)"
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
    if head.status == 429 || head.status == 503 { retryAfter = head.retryAfter(now: now) }
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
