internal import PodcastModel
package import PosixKit
internal import TransferProtocol

/// Why a host or the disk gave no bytes, or no more, and what follows (Documentation/Semantics.md, Reading).
package struct Fault: Hashable, Sendable {
  package enum Kind: Sendable {
    case passing
    /// May be the fault of this network or this clock: a login page, a certificate that is not valid, a private answer
    /// of DNS. Tried again; lasting once other networks or days have shown the same.
    case doubtful
    case lasting
    /// The address may have been renewed: the mounts are asked for a fresh one once, else lasting.
    case expired
    /// The cache's disk has no room: episodes are evicted, else tried again.
    case noRoom
    /// The runtime folder has no room for a live map. Tried again.
    case runtimeFull
  }
  package var kind: Kind
  /// One line for a person, with the HTTP status or the system's word, and the host.
  package var message: String
  /// Seconds that the server wants to be left alone (RFC 9110 §10.2.3).
  package var retryAfter: Double?
  /// The host, where all requests to it would fail like this one. Nil where the fault may be the episode's.
  package var host: String?
  /// What a reader gets at once; nil where it waits for the next try.
  package var readerErrno: Errno?
  /// Whether a body was shorter than its head said.
  package var isShortBody = false

  package init(_ kind: Kind, _ message: String, retryAfter: Double? = nil, host: String? = nil) {
    (self.kind, self.message, self.retryAfter, self.host) = (kind, message, retryAfter, host)
    if kind == .doubtful { readerErrno = .EIO }
    if isOfRoom { readerErrno = .ENOSPC }
  }

  var isOfRoom: Bool { kind == .noRoom || kind == .runtimeFull }

  /// A status that is neither 200 nor 206 (RFC 9110 §15).
  init(_ head: ResponseHead) {
    let text = HTTPStatus.text(head.status, from: head.host)
    let retryAfter = head.retryAfter.map { Double(min($0, TransferStatus.longestRetryAfter)) }
    switch head.status {
    // 511: a hotel's network that wants a login first (RFC 6585 §6).
    case 408, 421, 425, 429, 500, 502, 503, 504, 506...599:
      self.init(.passing, text, retryAfter: retryAfter)
      if head.status == 429 || head.status == 503 { host = head.host }
    case 401, 403, 404, 410: self.init(.expired, text, retryAfter: retryAfter)
    default: self.init(.lasting, text, retryAfter: retryAfter)
    }
  }
}
