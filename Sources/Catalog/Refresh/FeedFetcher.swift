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
    /// The podcast whose settings and validators count; nil for what the configuration says of `address`.
    var podcast: FeedState?
    /// Asked for only if it has changed since.
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
  func settings(_ keys: [String]) -> FeedSettings? {
    keys.lazy.compactMap { [requests] key in requests.feeds[key] }.first
  }

  /// Asks, and parses what comes.
  ///
  /// The user who types an address may mean a private host by an ordinary name, too, as long as it has never come from a
  /// public one, whose owner could lead it there later. Then it leads nowhere else.
  /// - Parameter started: gets what ends the request.
  func fetch(
    _ question: Question, started: (any Cancellable) -> Void = { _ in }
  ) throws(FeedFailure) -> FeedAnswer {
    let isPrivateName = question.address.host.map(PrivateHostName.isPrivate) ?? false
    let mayBePrivate = question.privateHosts == .allowed || question.privateHosts == .typed && isPrivateName
    var request = request(question)
    request.allowsPrivateHosts = mayBePrivate
    do {
      return try fetch(question, request, started)
    } catch {
      guard error.isRefusedAddress else { throw error }
      switch question.privateHosts {
      case .refused, .allowed: throw error
      case .untyped: throw error.withPrivateAdvice
      case .typed:
        request.allowsPrivateHosts = true
        request.maximumRedirects = 0
        do { return try fetch(question, request, started) } catch let second {
          throw second.leadsElsewhere ? error : second
        }
      }
    }
  }

  private func fetch(
    _ question: Question, _ request: HTTPRequest, _ started: (any Cancellable) -> Void
  ) throws(FeedFailure) -> FeedAnswer {
    let (head, body) = try receive(request, started)
    guard let body else { return FeedAnswer(head: head) }
    if body.digest == question.known { return FeedAnswer(head: head, content: .same, digest: body.digest) }
    do throws(FeedError) {
      let feed = try reader.parse(
        body, baseURL: WebAddress(head.effectiveURL), httpCharset: head.charset)
      return FeedAnswer(
        head: head, content: .feed(FetchedFeed(feed, now: question.now)), bytes: body.count,
        digest: body.digest)
    } catch {
      throw FeedFailure(notAFeed: error, head: head)
    }
  }

  /// The answer to a request, with its body where it is a document's. While that is parsed, it is in memory only once.
  private func receive(
    _ request: HTTPRequest, _ started: (any Cancellable) -> Void
  ) throws(FeedFailure) -> (head: HTTPResponseHead, body: FeedBody?) {
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
    // A 203 is a 200 that a proxy has changed (RFC 9110 §15.3.4).
    guard response.head.status == 200 || response.head.status == 203 else { return (response.head, nil) }
    do throws(FeedError) {
      return (response.head, try FeedBody(response.body))
    } catch {
      throw FeedFailure(notAFeed: error, head: response.head)
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
    let keys = question.podcast?.keys ?? [FeedKey.text(question.address)]
    if let agent = settings(keys)?.userAgent { request.userAgent = agent }
    return request
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
      },
      uniquingKeysWith: { first, _ in first })
  }

  /// - Parameters:
  ///   - seconds: for the whole.
  ///   - bytes: the longest body.
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
  func answer(
    _ request: HTTPRequest, started: (any Cancellable) -> Void
  ) throws(HTTPError) -> HTTPResponse {
    let outcome = Monitor<Result<HTTPResponse, HTTPError>?>(nil)
    started(fetch(request) { result in outcome.withLockNotifying { $0 = result } })
    guard let result = outcome.wait(for: { $0 }) else { throw .cancelled }
    return try result.get()
  }
}

extension HTTPRequest {
  /// A request as the user's settings have it.
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
