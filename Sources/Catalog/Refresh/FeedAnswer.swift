internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// What came of asking for a feed.
struct FeedAnswer: Sendable {
  var head: HTTPResponseHead
  /// Where the status is 200.
  var feed: ParsedFeed?
}

extension HTTPResponseHead {
  /// Where the feed is said to have moved for good: the end of the redirects that begin the way, as far as
  /// all are permanent (RFC 9110 §15.4.2, §15.4.9).
  var permanentLocation: WebAddress? {
    redirects.prefix { $0.status == 301 || $0.status == 308 }.last.map { WebAddress($0.location) }
  }
}

/// Parses a feed as its bytes come. Used on the HTTP client's thread only: that makes it Sendable.
final class FeedReceiver: HTTPResponseReceiver, @unchecked Sendable {
  typealias Completion = @Sendable (Result<FeedAnswer, FeedFailure>) -> Void

  private let completion: Completion
  private var head: HTTPResponseHead?
  private var body: FeedBody?
  private var error: FeedError?

  init(_ completion: @escaping Completion) { self.completion = completion }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    self.head = head
    guard head.status == 200 else { return .proceed }
    do throws(FeedError) {
      body = try FeedBody()
      return .proceed
    } catch {
      self.error = error
      return .abort
    }
  }

  func received(body: UnsafeRawBufferPointer) -> HTTPFlow {
    guard let whole = self.body else { return .proceed }
    do throws(FeedError) {
      try whole.append(body)
      return .proceed
    } catch {
      self.error = error
      return .abort
    }
  }

  func finished(_ httpError: HTTPError?) {
    guard let head else {
      return completion(.failure(FeedFailure(httpError ?? .cancelled)))
    }
    let host = WebAddress(head.effectiveURL).host ?? "the server"
    if let error { return completion(.failure(FeedFailure(notAFeed: error, host: host, head: head))) }
    if let httpError { return completion(.failure(FeedFailure(httpError))) }
    guard let body else { return completion(.success(FeedAnswer(head: head))) }
    do throws(FeedError) {
      let feed = try FeedReader.inThisProcess.parse(
        body, baseURL: WebAddress(head.effectiveURL), httpCharset: head.charset)
      completion(.success(FeedAnswer(head: head, feed: feed)))
    } catch {
      completion(.failure(FeedFailure(notAFeed: error, host: host, head: head)))
    }
  }
}

/// Why there is no feed.
struct FeedFailure: Error, Sendable {
  var error: CatalogError
  /// Refused because the address is private.
  var isRefusedAddress = false
  var isCancelled = false
  /// HTTP 410.
  var isGone = false
  /// The server's wish, in seconds.
  var retryAfter: Int64?

  init(_ error: CatalogError) { self.error = error }

  init(_ error: HTTPError) {
    self.error = CatalogError(error)
    isRefusedAddress = error.code == .refusedAddress
    isCancelled = error.code == .cancelled
  }

  init(notAFeed error: FeedError, host: String, head: HTTPResponseHead) {
    self.error = CatalogError(.EPROTO, "what \(host) sent \(error)")
  }

  init(status head: HTTPResponseHead, now: Int64) {
    error = CatalogError(status: head.status, host: WebAddress(head.effectiveURL).host ?? "the server")
    isGone = head.status == 410
    if head.status == 429 || head.status == 503 { retryAfter = head.retryAfter(now: now) }
  }
}
