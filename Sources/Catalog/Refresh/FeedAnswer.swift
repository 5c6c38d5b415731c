internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// What came of asking for a feed.
struct FeedAnswer: Sendable {
  enum Content: Sendable {
    /// The answer has no feed: its status is neither 200 nor 203.
    case none
    /// The same bytes as before.
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
  var cut: CatalogError?
}

/// An answer whose body has not been read yet.
struct UnreadAnswer: Sendable {
  var head: HTTPResponseHead
  var body: FeedBody?
  /// The connection ended before the body did.
  var breakOff: HTTPError?

  /// Parses the body, unless it is the known one. Takes its time.
  /// - Parameters:
  ///   - known: the digest of a body that need not be read again.
  ///   - isBackground: nobody waits for it.
  func read(
    known: Int64?, now: Int64, by reader: FeedReader, isBackground: Bool
  ) throws(FeedFailure) -> FeedAnswer {
    guard let body else { return FeedAnswer(head: head) }
    if breakOff == nil, body.digest == known {
      return FeedAnswer(head: head, content: .same, digest: known)
    }
    let (channel, episodes): (ParsedFeed, [IncomingEpisode])
    do throws(FeedError) {
      (channel, episodes) = try reader.parse(
        body, baseURL: WebAddress(head.effectiveURL), httpCharset: head.charset, isBehind: isBackground
      ) { IncomingEpisode($0, now: now) }
    } catch {
      throw breakOff.map { FeedFailure($0) } ?? FeedFailure(notAFeed: error, head: head)
    }
    let feed = FetchedFeed(channel: channel, episodes: episodes)
    var answer = FeedAnswer(head: head, content: .feed(feed), bytes: body.count, digest: body.digest)
    // Some servers tell too great a length of a feed that is whole.
    if feed.ending == .whole { return answer }
    let cut =
      breakOff.map { CatalogError($0) }
      ?? CatalogError(
        .EIO, "the feed from \(WebAddress(head.effectiveURL).host ?? "the server") is incomplete")
    if feed.episodes.isEmpty { throw FeedFailure(cut) }
    // Those that never close their first elements say the same again, and are taken for whole then.
    if breakOff != nil || feed.ending != .betweenItems { answer.digest = nil }
    answer.cut = cut
    return answer
  }
}

extension HTTPResponseHead {
  /// Whether the body is the whole document: a 203 is a 200 that a proxy has changed (RFC 9110 §15.3.4).
  fileprivate var isWhole: Bool { status == 200 || status == 203 }

  /// Where the feed is said to have moved for good: the end of the redirects that begin the way, as far as
  /// all are permanent (RFC 9110 §15.4.2, §15.4.9).
  var permanentLocation: WebAddress? {
    redirects.prefix { $0.status == 301 || $0.status == 308 }.last.map { WebAddress($0.location) }
  }
}

/// Keeps a feed's bytes as they come. Used on the HTTP client's thread only: that makes it Sendable.
final class FeedReceiver: HTTPResponseReceiver, @unchecked Sendable {
  typealias Completion = @Sendable (Result<UnreadAnswer, FeedFailure>) -> Void

  private let completion: Completion
  private var head: HTTPResponseHead?
  private var body: FeedBody?
  private var error: FeedError?

  init(_ completion: @escaping Completion) { self.completion = completion }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    self.head = head
    guard head.isWhole else { return .proceed }
    do throws(FeedError) {
      body = try FeedBody(coding: head.contentEncoding)
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
    if let error { return completion(.failure(FeedFailure(notAFeed: error, head: head))) }
    // The status is the answer, however its page ends.
    if !head.isWhole, httpError?.code != .cancelled {
      return completion(.success(UnreadAnswer(head: head)))
    }
    // What has come before the end may be most of it.
    if let httpError, !Self.breakOffs.contains(httpError.code) || (body?.count ?? 0) == 0 {
      return completion(.failure(FeedFailure(httpError)))
    }
    completion(.success(UnreadAnswer(head: head, body: body, breakOff: httpError)))
  }

  private static let breakOffs: Set<HTTPError.Code> = [
    .shortBody, .streamError, .connectionLost, .stalled, .timedOut,
  ]
}

/// Why there is no feed.
struct FeedFailure: Error, Sendable {
  var error: CatalogError
  /// Refused because the address is private.
  var isRefusedAddress = false
  var isCancelled = false
  /// This machine could not do it: no room, no memory.
  var isOwnFault = false
  /// Where no answer came.
  var cause: HTTPError?
  /// HTTP 410.
  var isGone = false
  /// The address leads to another podcast's feed (`RedirectedFeed`).
  var isAnotherShow = false
  /// The server's wish, in seconds.
  var retryAfter: Int64?
  /// What a page that is no feed names as feeds.
  var links: [WebAddress] = []
  /// Another network may give another answer: no host has answered, or a page that some networks show to everybody.
  var mayBeTheNetworks = false

  init(_ error: CatalogError) { self.error = error }

  init(_ error: HTTPError) {
    self.error = CatalogError(error)
    isRefusedAddress = error.code == .refusedAddress
    isCancelled = error.code == .cancelled
    cause = error
    mayBeTheNetworks = Self.networkCodes.contains(error.code)
  }

  /// The host redirects, and may not.
  var leadsElsewhere: Bool { cause?.code == .tooManyRedirects }

  private static let networkCodes: Set<HTTPError.Code> = [
    .nameNotResolved, .connectionRefused, .networkUnreachable, .timedOut, .stalled, .tls, .connectionLost,
    .proxy,
  ]

  init(notAFeed error: FeedError, head: HTTPResponseHead) {
    if case .storage(let reason) = error {
      self.error = CatalogError(reason.errno, reason.description)
      isOwnFault = true
    } else {
      let host = WebAddress(head.effectiveURL).host ?? "the server"
      self.error = CatalogError(.EPROTO, "what \(host) sent \(error)")
      mayBeTheNetworks = true
      guard case .notAFeed(let found) = error else { return }
      links = found.feeds
      if found.kind == .data, let coding = head.contentEncoding {
        self.error.message += " (its compression is called “\(coding.prefix(20))”)"
      }
    }
  }

  init(status head: HTTPResponseHead, now: Int64) {
    error = CatalogError(status: head.status, host: WebAddress(head.effectiveURL).host ?? "the server")
    isGone = head.status == 410
    if head.status == 429 || head.status == 503 { retryAfter = head.retryAfter(now: now) }
  }
}
