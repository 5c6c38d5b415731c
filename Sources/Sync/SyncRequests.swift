internal import Catalog
package import Configuration
package import HTTPKit
package import PodcastModel
internal import PosixKit

/// Asks one server, on the calling thread.
package final class SyncRequests: Sendable {
  private let http: HTTPClient
  private let settings: Settings
  private let base: WebAddress
  /// "NAME:PASSWORD", percent-encoded; nil where none are needed.
  private let credentials: String?
  private let clockNow: @Sendable () -> Int64
  /// Of the last answer.
  private let last = Monitor<(clock: SyncClock, isPrivate: Bool)?>(nil)

  /// The longest answer, in bytes.
  private static let longestAnswer: Int64 = 64 << 20
  /// Addresses or actions that are taken from one answer.
  package static let mostElements = 200_000
  /// Values in one answer: actions have about ten members.
  private static let mostValues = mostElements * 16
  /// Seconds for one request.
  private static let patience = 60.0

  package init(
    http: HTTPClient, settings: Settings, url: String, user: String?, password: String?,
    now: @escaping @Sendable () -> Int64
  ) {
    self.http = http
    self.settings = settings
    base = WebAddress(url)
    credentials = user.map { PercentEncoding.encode($0) + ":" + PercentEncoding.encode(password ?? "") }
    clockNow = now
  }

  package var host: String { base.host ?? "the server" }

  /// Whether an address is of the server's host, and encrypted where the server's is.
  package func isAsSafe(_ address: WebAddress) -> Bool {
    address.host == base.host && (address.scheme == "https" || base.scheme == "http")
  }

  /// By the last answer.
  package var clock: SyncClock {
    let now = clockNow()
    return last.withLock { $0?.clock } ?? SyncClock(ours: now, servers: now)
  }

  /// The last answer came from a private network: so may the feeds that it names.
  var isPrivate: Bool { last.withLock { $0?.isPrivate } ?? false }

  /// - Parameters:
  ///   - path: with its leading slash, and a query.
  ///   - body: for a POST request.
  package func ask(_ path: String, body: JSONValue? = nil) throws(SyncError) -> JSONValue {
    try ask(path, text: body?.compactText, type: "application/json")
  }

  package func ask(_ path: String, text: String?, type: String) throws(SyncError) -> JSONValue {
    let head: HTTPResponseHead
    let response = try answer(path, text, type)
    head = response.head
    guard (200..<300).contains(head.status) else { throw failure(head) }
    // Some answers are empty.
    if response.body.allSatisfy({ $0 <= 32 }) { return .null }
    // A value takes far more room than its text.
    let separators = response.body.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "[") }
    guard separators <= Self.mostValues else { throw SyncError("the answer of \(host) is too long") }
    do { return try JSONValue(parsing: response.body) } catch {
      throw SyncError("the answer of \(host) is none of a server to synchronize with")
    }
  }

  private func answer(_ path: String, _ text: String?, _ type: String) throws(SyncError) -> HTTPResponse {
    let url = base.forRequest
    let start = base.parts?.authority.startIndex ?? url.startIndex
    let address =
      path.contains("://")
      ? path : url[..<start] + (credentials.map { $0 + "@" } ?? "") + url[start...] + path
    var request = HTTPRequest(url: address, settings)
    // The user named the server.
    request.allowsPrivateHosts = true
    request.acceptsCompression = true
    // A redirect would take what is uploaded elsewhere.
    request.maximumRedirects = 0
    request.totalTimeout = Self.patience
    request.maximumBody = Self.longestAnswer
    request.headers = [("Accept", "application/json")]
    if let text {
      request.body = text
      request.headers.append(("Content-Type", type))
    }
    let result = Waiting.result(within: Self.patience + 5) { http.fetch(request, completion: $0) }
    switch result {
    case .success(let response):
      let now = clockNow()
      let servers = response.head.value("date").flatMap(DateText.seconds) ?? now
      last.withLock { $0 = (SyncClock(ours: now, servers: servers), response.head.isFromPrivateHost) }
      return response
    case .failure(let error) where error.code == .tooManyRedirects:
      throw SyncError("\(host) leads elsewhere: correct the address of the server to synchronize with")
    case .failure(let error): throw SyncError(error.message)
    case nil: throw SyncError("\(host) does not answer")
    }
  }

  private func failure(_ head: HTTPResponseHead) -> SyncError {
    switch head.status {
    case 401, 403: SyncError(.refused, "\(host) refuses the user name or password (HTTP \(head.status))")
    case 429, 503:
      SyncError(
        .busy(head.retryAfter(now: clockNow()) ?? Self.usualWait),
        "\(host) asks to wait (HTTP \(head.status))")
    case 404, 405, 410:
      SyncError(.missing, "\(host) has no such server to synchronize with (HTTP \(head.status))")
    default: SyncError("\(host) answers with HTTP \(head.status)")
    }
  }

  /// Seconds, where a server that is busy does not say how long.
  private static let usualWait: Int64 = 900
}
