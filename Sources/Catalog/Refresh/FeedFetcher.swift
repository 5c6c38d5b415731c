package import Configuration
internal import FeedKit
package import HTTPKit
internal import PodcastModel
internal import PosixKit

/// Asks for feeds and parses them, on the thread that calls it.
final class FeedFetcher: Sendable {
  /// The most bytes of a feed, after decompression.
  static let longestFeed: Int64 = 64 << 20
  /// Seconds for a whole feed.
  static let timeout = 180.0

  enum PrivateHosts: Sendable {
    case refused, allowed
    /// Nothing has come from the address yet, and nobody has typed it.
    case untyped
    /// Nothing has come from the address yet, and the user has typed it.
    case typed
  }

  struct Question: Sendable {
    var address: WebAddress
    /// The podcast whose validators count.
    var podcast: PodcastRecord?
    /// Of the addresses (`FeedKey`) whose settings count; nil for what the configuration says of `address`.
    var keys: [String]?
    var isConditional = false
    var privateHosts: PrivateHosts
    var bytes = FeedFetcher.longestFeed
    /// The digest of a body that need not be read again.
    var known: Int64?
    /// Seconds since 1970.
    var now: Int64
  }

  private let requests: RequestMaker
  private let http: HTTPClient
  let reader: FeedReader
  /// Ends requests that are under way when the catalogue is closed.
  private let tasks: TaskRegistry

  init(requests: RequestMaker, http: HTTPClient, reader: FeedReader, tasks: TaskRegistry) {
    (self.requests, self.http, self.reader, self.tasks) = (requests, http, reader, tasks)
  }

  /// What the configuration file says of a feed, however it writes the address.
  /// - Parameter keys: of its address, and of those that it has moved away from.
  func settings(_ keys: [String]) -> FeedSettings? { keys.lazy.compactMap { self.requests.feeds[$0] }.first }

  /// Asks, and parses what comes.
  ///
  /// The user who types an address may mean a private host by an ordinary name, too, as long as it has never come from a
  /// public one, whose owner could lead it there later. Then it leads nowhere else.
  /// - Parameter started: gets what ends the request.
  func fetch(
    _ question: Question, started: (any Cancellable) -> Void = { _ in }
  ) throws(FeedFailure) -> FeedAnswer {
    let isPrivateName = question.address.host.map(PrivateHostName.isPrivate) ?? false
    var request = request(question)
    request.allowsPrivateHosts =
      question.privateHosts == .allowed || question.privateHosts == .typed && isPrivateName
    do {
      return try fetch(question, request, started)
    } catch {
      guard error.httpCode == .refusedAddress else { throw error }
      switch question.privateHosts {
      case .refused, .allowed: throw error
      case .untyped: throw error.withPrivateAdvice
      case .typed:
        request.allowsPrivateHosts = true
        request.maximumRedirects = 0
        do { return try fetch(question, request, started) } catch let second {
          throw second.httpCode == .tooManyRedirects ? error : second
        }
      }
    }
  }

  private func fetch(
    _ question: Question, _ request: HTTPRequest, _ started: (any Cancellable) -> Void
  ) throws(FeedFailure) -> FeedAnswer {
    var task: (any Cancellable)?
    defer { if let task { tasks.remove(task) } }
    let response: HTTPResponse
    do throws(HTTPError) {
      response = try http.answer(request) { begun in
        task = begun
        if !tasks.add(begun) { begun.cancel() }
        started(begun)
      }
    } catch {
      throw FeedFailure(error)
    }
    let head = response.head
    // A 203 is a 200 that a proxy has changed (RFC 9110 §15.3.4).
    guard head.status == 200 || head.status == 203 else { return FeedAnswer(head: head) }
    do throws(FeedError) {
      let body = try FeedBody(response.body)
      if body.digest == question.known { return FeedAnswer(head: head, content: .same, digest: body.digest) }
      let feed = try reader.parse(body, baseURL: WebAddress(head.effectiveURL), httpCharset: head.charset)
      return FeedAnswer(
        head: head, content: .feed(FetchedFeed(feed, now: question.now)), bytes: body.count,
        digest: body.digest)
    } catch {
      throw FeedFailure(notAFeed: error, head: head)
    }
  }

  private func request(_ question: Question) -> HTTPRequest {
    var request = requests.request(question.address, seconds: Self.timeout, bytes: question.bytes)
    // What servers say of a feed's compression is often wrong: `FeedBody` looks at the bytes.
    request.decompresses = false
    request.headers = [
      ("Accept", "application/rss+xml, application/atom+xml, application/xml;q=0.9, */*;q=0.5")
    ]
    if question.isConditional {
      if let etag = question.podcast?.etag { request.headers.append(("If-None-Match", etag)) }
      if let date = question.podcast?.lastModified { request.headers.append(("If-Modified-Since", date)) }
    }
    let keys = question.keys ?? [FeedKey.text(question.address)]
    if let agent = settings(keys)?.userAgent { request.userAgent = agent }
    return request
  }
}

struct FeedAnswer: Sendable {
  enum Content: Sendable {
    /// The answer has no feed: its status is neither 200 nor 203.
    case none
    case same
    case feed(FetchedFeed)
  }

  var head: HTTPResponseHead
  var content = Content.none
  var bytes = 0
  var digest: Int64?

  func feed(now: Int64) throws(FeedFailure) -> FetchedFeed {
    guard case .feed(let feed) = content else { throw FeedFailure(status: head, now: now) }
    return feed
  }
}

extension HTTPResponseHead {
  /// Where the feed is said to have moved for good: the end of the redirects that begin the way, as far as
  /// all are permanent (RFC 9110 §15.4.2, §15.4.9).
  var permanentLocation: WebAddress? {
    redirects.prefix { $0.status == 301 || $0.status == 308 }.last.map { WebAddress($0.location) }
  }

  /// Where redirects have led; nil where there were none.
  var place: WebAddress? { redirects.isEmpty ? nil : WebAddress(effectiveURL) }
  fileprivate var host: String { WebAddress(effectiveURL).host ?? "the server" }
}

struct FeedFailure: Error, Sendable {
  enum Cause: Equatable, Sendable {
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
    (cause, self.error) = (.notAFeed, CatalogError(.EPROTO, "what \(head.host) sent \(error)"))
    if case .notAFeed(let found) = error {
      (links, isFromPrivateHost) = (found.feeds, head.isFromPrivateHost)
    }
  }

  init(status head: HTTPResponseHead, now: Int64) {
    cause = .status(head.status)
    error =
      head.status / 100 != 2 && head.status != 304
      ? CatalogError(status: head.status, host: head.host)
      : CatalogError(.EPROTO, "HTTP \(head.status) instead of a feed from \(head.host)")
    retryAfter = head.retryAfter(now: now)
  }

  init(anotherShow feed: FetchedFeed, head: HTTPResponseHead, of podcast: PodcastRecord) {
    let host = podcast.feedURL.host ?? "the server"
    let place = head.host == host ? "" : " on \(head.host)"
    let title = feed.title.map { "“\(TitleText.line($0).prefix(80))”" } ?? "one without a title"
    cause = .anotherShow
    error = CatalogError(
      .EPROTO,
      "\(host) leads to another podcast, \(title)\(place): nothing is taken from there; "
        + "subscribe to that one if it is meant")
  }

  var httpCode: HTTPError.Code? { if case .request(let error) = cause { error.code } else { nil } }
  var isCancelled: Bool { httpCode == .cancelled }

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
  fileprivate var withPrivateAdvice: FeedFailure {
    var failure = self
    failure.error.message += ": podcastfs subscribe ADDRESS follows it anyway"
    return failure
  }
}

struct RequestMaker: Sendable {
  let settings: Settings
  /// What the configuration file sets for single feeds, by `FeedKey`.
  let feeds: [String: FeedSettings]

  init(settings: Settings) {
    self.settings = settings
    feeds = Dictionary(
      settings.feeds.map {
        (FeedKey.text(SubscriptionAddress.normalized($0.key) ?? WebAddress($0.key)), $0.value)
      }, uniquingKeysWith: { first, _ in first })
  }

  func request(_ url: WebAddress, seconds: Double, bytes: Int64) -> HTTPRequest {
    var request = HTTPRequest(url: url.forRequest, settings)
    request.acceptsCompression = true
    request.connectTimeout = min(settings.connectTimeout, seconds)
    request.stallTimeout = min(settings.stallTimeout, seconds)
    request.totalTimeout = seconds
    request.maximumBody = bytes
    return request
  }
}

extension HTTPClient {
  /// Waits for the answer to a request, which has a bound of its own.
  /// - Parameter started: gets what ends the request.
  func answer(_ request: HTTPRequest, started: (any Cancellable) -> Void) throws(HTTPError) -> HTTPResponse {
    let outcome = Monitor<Result<HTTPResponse, HTTPError>?>(nil)
    started(fetch(request) { result in outcome.withLockNotifying { $0 = result } })
    guard let result = outcome.wait(for: { $0 }) else { throw .cancelled }
    return try result.get()
  }
}

extension HTTPRequest {
  package init(url: String, _ settings: Settings) {
    self.init(url: url)
    userAgent = settings.effectiveUserAgent
    proxy = settings.proxy
    certificateAuthorities = settings.certificateAuthorities
    connectTimeout = settings.connectTimeout
    stallTimeout = settings.stallTimeout
  }
}

/// Hosts that are private by their name alone.
package enum PrivateHostName {
  /// A private address in figures, `localhost`, a name without a dot, or one under a domain for local use
  /// (RFC 6761, RFC 6762, RFC 8375).
  package static func isPrivate(_ host: String) -> Bool {
    if let address = HostAddress(host) { return address.isPrivate }
    if !host.contains(".") { return true }
    return suffixes.contains { host.hasSuffix($0) }
  }

  private static let suffixes = [".localhost", ".local", ".lan", ".home", ".home.arpa", ".internal", ".test"]
}
