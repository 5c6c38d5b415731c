internal import EpisodeCache
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import TransferEngine
internal import TransferProtocol

/// Holds a response's bytes until the engine places them, and its head until the first bytes tell what it is.
/// Used by the loop's thread only: that makes it Sendable.
final class FlowReceiver: HTTPResponseReceiver, @unchecked Sendable {
  let id: FlowID
  var task: HTTPSession.TaskID?
  var held: HeldBytes
  private unowned let driver: EngineDriver
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
  private var hasHead = false
  var hasEnded = false

  init(_ id: FlowID, at start: Int64, mostAtOnce: Int, _ driver: EngineDriver) {
    (self.id, self.mostAtOnce, self.driver) = (id, mostAtOnce, driver)
    held = HeldBytes(at: start)
  }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    let facts = ResponseHead(head, now: wallClockSeconds())
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
    driver.post(.head(id, head, firstBytes: firstBytes))
  }

  func received(body: UnsafeRawBufferPointer) -> HTTPFlow {
    held.append(body)
    untold += body.count
    if let head {
      early += body.prefix(ContentKind.decisive - early.count)
      if !ContentKind.isUndecided(early) { tell(head, early) }
    }
    if untold >= mostAtOnce && hasHead && !isResting {
      driver.rest(self)
    } else {
      driver.arrived(untold, of: id)
    }
    return .proceed
  }

  func finished(_ error: HTTPError?) {
    hasEnded = true
    // Too few bytes to tell count only where they are all of it.
    if let head, error == nil { tell(head, early) }
    tellCame()
    driver.post(.ended(id, error.map { Fault($0) }))
  }

  func tellCame() {
    guard hasHead, untold > 0 else { return }
    driver.post(.came(id, untold))
    untold = 0
  }
}

extension HTTPRequest {
  init(_ request: MediaRequest) {
    self.init(url: request.url)
    if let range = request.range {
      let last = range.upperBound == .max ? "" : "\(range.upperBound - 1)"
      headers.append(("Range", "bytes=\(range.lowerBound)-\(last)"))
      if let validator = request.validator { headers.append(("If-Range", validator)) }
    }
    let settings = request.settings
    userAgent = request.userAgent
    proxy = settings.proxy
    proxyVariables = settings.proxyVariables
    allowsPrivateHosts = request.allowsPrivateHosts
    connectTimeout = Double(settings.connectTimeout) / 1000
    stallTimeout = Double(settings.stallTimeout) / 1000
    certificateAuthorities = settings.certificateAuthorities
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
      case .tls: .doubtful
      case .refusedAddress: error.isByLookup ? .doubtful : .lasting
      case .tooManyRedirects, .unsupportedScheme, .malformedURL, .bodyTooLong: .lasting
      default: .passing
      }
    self.init(kind, error.message, host: error.silentHost)
    isShortBody = error.code == .shortBody
    let errnos: [Errno] = [.ECONNREFUSED, .EHOSTUNREACH, .ENETUNREACH]
    if errnos.contains(error.errno) { readerErrno = error.errno }
  }
}
