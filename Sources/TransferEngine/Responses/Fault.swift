internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Why a response gave no bytes, or no more, and what is to be done (Documentation/Semantics.md, Reading).
package struct Fault: Hashable {
  package enum Kind: Hashable {
    /// Tried again, later and later.
    case passing
    /// May be the fault of this network or this clock: a login page, a certificate that is not valid, a private answer
    /// of DNS. Tried again; lasting once other networks or days have shown the same.
    case doubtful
    /// Failed at once.
    case lasting
    /// The address may have been renewed: asked for a fresh one once, else lasting.
    case expired
    /// No room on the disk.
    case noRoom
  }
  package var kind: Kind
  /// One line for a person, with the HTTP status or the system's word, and the host.
  package var message: String
  /// Seconds that the server wants to be left alone (RFC 9110 §10.2.3).
  package var retryAfter: Double?

  /// The host that would treat any request so; nil where it may be this one's fault only.
  package var host: String?
  /// What a reader gets at once who has nothing of the episode; nil where it waits for the next try.
  var readerErrno: Errno?
  /// Whether it heals only by the user's doing: the log has it.
  var needsUser = false
  /// What is remembered of it.
  var cause = TransferProblem.Kind.host

  package init(_ kind: Kind, _ message: String, retryAfter: Double? = nil) {
    self.kind = kind
    self.message = message
    self.retryAfter = retryAfter
    readerErrno = kind == .doubtful ? .EIO : nil
    if kind == .noRoom { cause = .noRoom }
  }

  init(_ failure: ResponseFailure) {
    self.init(failure.kind, failure.message)
    host = failure.silentHost
    readerErrno = failure.unreachable ?? readerErrno
    needsUser = failure.isOfProxy
  }

  /// The disk has refused something.
  init(_ failure: DiskFailure) {
    switch failure.kind {
    case .full, .runtimeFull: self.init(.noRoom, failure.message)
    case .tooLarge: self.init(.lasting, "the file is larger than the disk or a limit (ulimit -f) allows")
    case .passing: self.init(.passing, failure.message)
    case .readOnly:
      self.init(.passing, failure.message)
      readerErrno = .EROFS
    case .broken: self.init(.lasting, failure.message)
    }
    if kind != .noRoom { cause = .disk }
  }

  /// A status that is neither 200 nor 206 (RFC 9110 §15).
  init(_ head: ResponseHead) {
    let text = "\(head.status) \(Self.reason(head.status)) from \(head.host)"
    let retryAfter = head.retryAfter.map { Double(min($0, TransferRecord.longestRetryAfter)) }
    switch head.status {
    // 511: a hotel's network that wants a login first (RFC 6585 §6).
    case 408, 421, 425, 429, 500, 502, 503, 504, 506...599:
      self.init(.passing, text, retryAfter: retryAfter)
      if head.status == 429 || head.status == 503 { host = head.host }
    case 401, 403, 404, 410: self.init(.expired, text, retryAfter: retryAfter)
    default: self.init(.lasting, text, retryAfter: retryAfter)
    }
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 407: "Proxy Authentication Required"
    case 408: "Request Timeout"
    case 410: "Gone"
    case 416: "Range Not Satisfiable"
    case 429: "Too Many Requests"
    case 451: "Unavailable For Legal Reasons"
    case 500: "Internal Server Error"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 511: "Network Authentication Required"
    default: status < 400 ? "Unexpected Answer" : status < 500 ? "Request Refused" : "Server Error"
    }
  }
}
