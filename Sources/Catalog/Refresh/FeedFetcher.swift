internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// Asks for feeds, on the thread that calls it.
final class FeedFetcher: Sendable {
  /// The most bytes of a feed, after decompression.
  static let longestFeed: Int64 = 64 << 20
  /// Seconds for a whole feed.
  static let timeout = 180.0

  /// How far a request may go onto private hosts.
  enum PrivateHosts: Sendable {
    case refused
    /// The address itself may be private, but leads nowhere else.
    case allowedWithoutRedirects
    case allowed
  }

  /// What is asked for.
  struct Question: Sendable {
    var address: WebAddress
    /// The podcast whose settings and validators count; nil for what the configuration says of `address`.
    var podcast: FeedState?
    /// Asked for only if it has changed since.
    var isConditional = false
    var privateHosts: PrivateHosts
    /// The longest body.
    var bytes = FeedFetcher.longestFeed
  }

  private struct Running: ~Copyable {
    var requests: [Int: HTTPTask] = [:]
    var last = 0
    var isClosed = false
  }

  private let requests: RequestMaker
  private let http: HTTPClient
  let reader: FeedReader
  private let running = Monitor(Running())

  init(requests: RequestMaker, http: HTTPClient, reader: FeedReader) {
    self.requests = requests
    self.http = http
    self.reader = reader
  }

  /// What the configuration file says of a feed, however it writes the address.
  /// - Parameter keys: of its address, and of those that it has moved away from.
  func settings(_ keys: [String]) -> FeedSettings? {
    keys.lazy.compactMap { [requests] key in requests.feeds[key] }.first
  }

  /// Ends requests that are under way, and those to come.
  func close() {
    let tasks = running.withLock { running in
      running.isClosed = true
      return Array(running.requests.values)
    }
    for task in tasks { task.cancel() }
  }

  /// Asks, and waits for the end of the answer.
  /// - Parameter started: gets what ends the request.
  func ask(
    _ question: Question, started: (any Cancellable) -> Void = { _ in }
  ) throws(FeedFailure) -> UnreadAnswer {
    let outcome = Monitor<Result<UnreadAnswer, FeedFailure>?>(nil)
    let task = http.start(
      request(question), receiver: FeedReceiver { result in outcome.withLockNotifying { $0 = result } })
    let number: Int? = running.withLock { running in
      if running.isClosed { return nil }
      running.last += 1
      running.requests[running.last] = task
      return running.last
    }
    guard let number else {
      task.cancel()
      throw FeedFailure(HTTPError.cancelled)
    }
    defer { running.withLock { _ = $0.requests.removeValue(forKey: number) } }
    started(task)
    // The request has a bound of its own.
    return try (outcome.wait(until: .distantFuture) { $0 } ?? .failure(FeedFailure(HTTPError.cancelled)))
      .get()
  }

  /// Asks, and parses what comes.
  /// - Parameters:
  ///   - known: the digest of a body that need not be read again.
  ///   - isBackground: nobody waits for it.
  func fetch(
    _ question: Question, known: Int64? = nil, now: Int64, isBackground: Bool
  ) throws(FeedFailure) -> FeedAnswer {
    try read(try ask(question), known: known, now: now, isBackground: isBackground)
  }

  func read(
    _ answer: UnreadAnswer, known: Int64? = nil, now: Int64, isBackground: Bool
  ) throws(FeedFailure) -> FeedAnswer {
    try answer.read(known: known, now: now, by: reader, isBackground: isBackground)
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
    request.allowsPrivateHosts = question.privateHosts != .refused
    if question.privateHosts == .allowedWithoutRedirects { request.maximumRedirects = 0 }
    return request
  }
}
