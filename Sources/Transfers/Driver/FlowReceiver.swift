internal import EpisodeCache
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import TransferEngine

/// Hears one response for the engine, on the loop: holds its bytes until the engine says where they go, and its head
/// until enough of what gives a file's beginning has come to tell what it is. Made, called and let go of by the loop's
/// thread only: that makes it Sendable.
final class FlowReceiver: HTTPResponseReceiver, @unchecked Sendable {
  let id: FlowID
  var task: HTTPSession.TaskID?
  var held: HeldBytes
  private let post: (Event) -> Void
  private let arrive: (Int) -> Void
  /// Takes nothing more for now: the engine is to hear of what has come.
  private let rest: (FlowReceiver) -> Void
  /// Bytes at once: libcurl would go on for megabytes.
  private let mostAtOnce: Int
  /// Whether it rests, and whether the engine holds it back.
  var isResting = false
  var isHeld = false
  /// A head whose first bytes are awaited, and those that have come.
  private var head: ResponseHead?
  private var early: [UInt8] = []
  /// Bytes that the engine has not been told of.
  private var untold = 0
  /// Bytes of its body that are still to come, where the head has told.
  private var left: Int64?
  /// Whether the engine has done with it, and only its last bytes are awaited.
  private var isDraining = false
  private var hasHead = false
  var hasEnded = false

  init(
    _ id: FlowID, at start: Int64, mostAtOnce: Int, post: @escaping (Event) -> Void,
    arrive: @escaping (Int) -> Void, rest: @escaping (FlowReceiver) -> Void
  ) {
    self.id = id
    self.mostAtOnce = mostAtOnce
    self.arrive = arrive
    self.rest = rest
    self.post = post
    held = HeldBytes(at: start)
  }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    if isDraining { return .proceed }
    let facts = ResponseHead(head, now: wallClockSeconds())
    left = facts.encoding == nil ? facts.length : nil
    // What gives a file's beginning must show first that it is no web page.
    if facts.isWhole || facts.part?.lowerBound == 0 {
      self.head = facts
    } else {
      tell(facts, [])
    }
    return .proceed
  }

  private func tell(_ head: ResponseHead, _ firstBytes: [UInt8]) {
    self.head = nil
    hasHead = true
    post(.head(id, head, firstBytes: firstBytes))
  }

  func received(body: UnsafeRawBufferPointer) -> HTTPFlow {
    left = left.map { $0 - Int64(body.count) }
    if isDraining { return .proceed }
    held.append(body)
    untold += body.count
    if let head {
      early += body.prefix(ContentKind.decisive - early.count)
      if !ContentKind.isUndecided(early) { tell(head, early) }
    }
    if untold >= mostAtOnce && hasHead && !isResting {
      isResting = true
      rest(self)
    } else {
      arrive(untold)
    }
    return .proceed
  }

  func finished(_ error: HTTPError?) {
    hasEnded = true
    if isDraining { return }
    // Too few bytes to tell count only where they are all of it.
    if let head, error == nil { tell(head, early) }
    tellCame()
    post(.ended(id, error.map { Fault($0) }))
  }

  /// The engine has done with it. Where only a little more is to come, that is taken, and its connection is kept for the
  /// next request: a new one costs more.
  /// - Returns: false where it is to be cancelled.
  func drain() -> Bool {
    guard hasHead, let left, left <= Self.worthAConnection else { return false }
    isDraining = true
    held = HeldBytes(at: 0)
    return true
  }

  /// Bytes; most have left the host by then.
  private static let worthAConnection: Int64 = 16 << 10

  func tellCame() {
    guard hasHead, untold > 0, !isDraining else { return }
    post(.came(id, untold))
    untold = 0
  }
}

extension ResponseHead {
  /// - Parameter now: seconds since 1970.
  init(_ head: HTTPResponseHead, now: Int64) {
    self.init(status: head.status, url: head.effectiveURL)
    length = head.contentLength
    part = head.contentRange?.range
    partTotal = head.contentRange?.total
    entityTag = head.strongETag
    lastModified = head.value("last-modified")
    mediaType = head.mediaType
    encoding = head.contentEncoding
    acceptsRanges = head.value("accept-ranges")?.lowercased() == "bytes"
    retryAfter = head.retryAfter(now: now)
    isDelimitedByClose = head.isDelimitedByClose
    isFromPrivateHost = head.isFromPrivateHost
  }
}

extension Fault {
  init(_ error: HTTPError) {
    let kind: Kind =
      switch error.code {
      case .nameNotResolved, .connectionRefused, .networkUnreachable, .timedOut, .stalled, .connectionLost,
        .shortBody, .protocolError, .cancelled, .proxy, .other:
        .passing
      case .tls: .doubtful
      case .refusedAddress: error.isByLookup ? .doubtful : .lasting
      case .tooManyRedirects, .unsupportedScheme, .malformedURL, .bodyTooLong: .lasting
      }
    self.init(kind, error.message, host: error.silentHost)
    isShortBody = error.code == .shortBody
    let errnos: [Errno] = [.ECONNREFUSED, .EHOSTUNREACH, .ENETUNREACH]
    if errnos.contains(error.errno) { readerErrno = error.errno }
  }
}
