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
    let kind: Kind =
      switch head.status {
      // 511: a hotel's network that wants a login first (RFC 6585 §6).
      case 408, 421, 425, 429, 500, 502, 503, 504, 506...599: .passing
      case 401, 403, 404, 410: .expired
      default: .lasting
      }
    let seconds = head.retryAfter.map { Double(min($0, TransferStatus.longestRetryAfter)) }
    self.init(kind, HTTPStatus.text(head.status, from: head.host), retryAfter: seconds)
    if head.status == 429 || head.status == 503 { host = head.host }
  }
}

/// Tells login pages and hosts' error pages, which come with status 200, from audio or video.
package enum ContentKind {
  package static let decisive = 512

  /// What came instead of audio, for people; nil where it may be audio. Some hosts call audio text/plain.
  /// - Parameter bytes: the first ones of the body, `decisive` of them where it has so many.
  package static func intruder(_ mediaType: String?, _ bytes: some Sequence<UInt8>) -> String? {
    let start = Array(bytes.prefix(decisive))
    if start.isEmpty || isMedia(start) { return nil }
    let text = start.drop { [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].contains($0) }
    let lower = String(decoding: text.prefix(32), as: UTF8.self).lowercased()
    let isPage = ["<!doctype html", "<html", "<head"].contains { lower.hasPrefix($0) }
    // Whatever it is called: storage services say "octet-stream" or "audio" of their errors.
    let isText = isText(start)
    let type = mediaType ?? ""
    if isPage || !isText && type.hasSuffix("html") { return "a web page" }
    if isText ? lower.hasPrefix("{") || lower.hasPrefix("[") : type.hasSuffix("json") {
      return "a JSON document"
    }
    if isText ? lower.hasPrefix("<") : type.hasSuffix("xml") { return "an XML document" }
    return isText ? "a text" : nil
  }

  /// Whether more of the body must be seen to tell: it looks like a text so far.
  package static func isUndecided(_ bytes: [UInt8]) -> Bool {
    bytes.count < decisive && !isMedia(bytes) && isText(bytes)
  }

  /// Whether there is nothing but text, in UTF-8; the last character may be cut.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f || [9, 10, 12, 13].contains($0) }
      && (0...min(3, bytes.count)).contains {
        String(validating: bytes.dropLast($0), as: UTF8.self) != nil
      }
  }

  /// The magic numbers of what podcasts are made of.
  private static func isMedia(_ bytes: [UInt8]) -> Bool {
    let isMatroska = bytes.starts(with: [0x1a, 0x45, 0xdf, 0xa3])
    // MPEG audio's and ADTS's frame synchronization.
    let isFrame = bytes.count >= 2 && bytes[0] == 0xff && bytes[1] & 0xe0 == 0xe0 && bytes[1] != 0xff
    return isMatroska || isFrame || bytes.dropFirst(4).starts(with: "ftyp".utf8)
      || ["ID3", "OggS", "fLaC", "RIFF", "caff"].contains { bytes.starts(with: $0.utf8) }
  }
}
