internal import CCurl
internal import Glibc
internal import PosixKit
internal import WebValues

/// One request on the client's thread: an easy handle, its callbacks and what they learn.
final class HTTPTransfer {
  enum Ending {
    case result(CURLcode)
    case stalled
    case cancelled
  }

  let id: HTTPSession.TaskID
  let easy: UnsafeMutableRawPointer
  let request: HTTPRequest
  private let receiver: any HTTPResponseReceiver
  /// The address that is being asked, and the proxy for it.
  var asked: (address: WebAddress, proxy: String?)

  /// The head that has come last: the final response's in the end. Its status is 0 before the first.
  var head = HTTPResponseHead(status: 0, headers: [], effectiveURL: "", redirects: [])
  private var headSize = 0
  private var isHeadDelivered = false
  /// Where the last head leads, until that is asked; and bytes of its body, which are of no use.
  var redirect: (next: String, ignored: Int)?
  let began = MonotonicTime.now
  private var received: Int64 = 0
  private var isHeld = false
  /// An address of the host was refused: why it can't be connected to, unless it has others.
  var hasRefused = false
  /// Whether a public host has answered on the way: it may lead to no private one.
  var hasMetPublicHost = false
  /// Why a callback ended the transfer: says more than libcurl's result.
  private(set) var verdict: HTTPError?
  /// Since when the server owes a byte; nil while a connection is being made (which has its own bound).
  var waitingSince: MonotonicTime?
  /// libcurl's words for what went wrong.
  let words: UnsafeMutablePointer<CChar>
  /// The fields of the request's head, as long as the handle uses them.
  var lines: UnsafeMutablePointer<curl_slist>?

  init(
    _ id: HTTPSession.TaskID, _ request: HTTPRequest, _ receiver: any HTTPResponseReceiver
  ) throws(HTTPError) {
    guard WebAddress(request.url.trimmed).isWeb else { throw .notOfTheWeb }
    guard let easy = podcastfs_curl_easy_init() else { throw HTTPError(.other, "no memory", .ENOMEM) }
    self.id = id
    self.easy = easy
    self.request = request
    self.receiver = receiver
    asked = (WebAddress(request.url.trimmed), nil)
    words = .allocate(capacity: Int(CURL_ERROR_SIZE))
    words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    apply()
  }

  deinit {
    podcastfs_curl_easy_cleanup(easy)
    podcastfs_curl_slist_free_all(lines)
    words.deallocate()
  }

  static func of(_ easy: UnsafeMutableRawPointer) -> HTTPTransfer? {
    var pointer: UnsafeMutablePointer<CChar>?
    podcastfs_curl_get_string(easy, CURLINFO_PRIVATE, &pointer)
    return pointer.map { Unmanaged<HTTPTransfer>.fromOpaque($0).takeUnretainedValue() }
  }
}

extension HTTPTransfer {
  var effectiveURL: String {
    var pointer: UnsafeMutablePointer<CChar>?
    podcastfs_curl_get_string(easy, CURLINFO_EFFECTIVE_URL, &pointer)
    return pointer.map { String(cString: $0) } ?? request.url
  }

  /// The host that is being asked, as people read it: all that messages say of an address.
  var host: String { asked.address.host ?? "the server" }

  var connectedAddress: HostAddress? {
    var pointer: UnsafeMutablePointer<CChar>?
    podcastfs_curl_get_string(easy, CURLINFO_PRIMARY_IP, &pointer)
    return pointer.flatMap { HostAddress(String(cString: $0)) }
  }

  /// The fields of the last response's head, names in lower case, folded lines as one (curl_easy_nextheader(3)).
  var fields: [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    var last: UnsafeMutablePointer<curl_header>?
    while let field = podcastfs_curl_easy_nextheader(easy, UInt32(CURLH_HEADER), -1, last) {
      fields.append(
        (String(cString: field.pointee.name).lowercased(), String(cString: field.pointee.value)))
      last = field
    }
    return fields
  }

  func number(_ info: CURLINFO) -> Int {
    var value = 0
    podcastfs_curl_get_long(easy, info, &value)
    return value
  }
}

extension HTTPTransfer {
  var stallDeadline: MonotonicTime? {
    if isHeld { return nil }
    return waitingSince?.adding(
      redirect == nil ? request.stallTimeout : min(request.stallTimeout, Self.redirectPatience))
  }

  /// Seconds that a redirect's body may take from its head on: that its connection stays is not worth more.
  private static let redirectPatience = 1.0

  /// Stops reading from the host. The receiver still gets the bytes that libcurl has read before.
  func pause() {
    if isHeld { return }
    isHeld = true
    podcastfs_curl_easy_pause(easy, CURLPAUSE_RECV)
  }

  /// - Returns: the result where that ended it.
  func resume() -> CURLcode? {
    guard isHeld else { return nil }
    isHeld = false
    waitingSince = .now
    // Calls the receiver. libcurl forgets an error of that, and would go on behind the lost piece.
    let result = podcastfs_curl_easy_pause(easy, CURLPAUSE_CONT)
    return result == CURLE_OK ? nil : result
  }

  /// Tells the receiver its end; called once, when libcurl has let go of the handle.
  func finish(_ ending: Ending) {
    // The head of a response without a body.
    if case .result(CURLE_OK) = ending { _ = deliverHead() }
    var error: HTTPError? =
      switch ending {
      case .cancelled: .cancelled
      case .stalled:
        HTTPError(.stalled, "\(host) sent nothing for \(seconds(request.stallTimeout))", .ETIMEDOUT)
      case .result(CURLE_OK): verdict
      case .result(let code): verdict ?? self.error(code)
      }
    if error?.code != .cancelled && verdict == nil && number(CURLINFO_RESPONSE_CODE) == 0 {
      error?.silentHost = host
    }
    receiver.finished(error)
  }
}

extension HTTPTransfer {
  /// Bytes at most of all heads of a request together, those of redirects and trailers among them.
  private static let headLimit = 256 * 1024

  /// A line of a head, the blank one behind it, or a trailer. Answers whether to go on.
  func received(headerLine line: UnsafeRawBufferPointer) -> Bool {
    waitingSince = .now
    headSize += line.count
    if headSize > Self.headLimit {
      return refuse(HTTPError(.protocolError, "\(host) sent headers without end", .EIO))
    }
    let isBlank = line.allSatisfy { $0 == 13 || $0 == 10 }
    let status = number(CURLINFO_RESPONSE_CODE)
    guard isBlank, status >= 200, !isHeadDelivered, redirect == nil else { return true }
    head.status = status
    head.headers = fields
    if head.hasTwoLengths {
      return refuse(HTTPError(.protocolError, "\(host) sent two lengths for one body", .EIO))
    }
    if head.isRedirect, let location = head.value("location") { return lead(to: location) }
    return deliverHead() != .abort
  }

  func received(body: UnsafeRawBufferPointer) -> HTTPFlow {
    if redirect != nil { return ignore(body.count) }
    waitingSince = .now
    if deliverHead() == .abort { return .abort }
    if body.isEmpty { return .proceed }
    if let most = request.maximumBody, received + Int64(body.count) > most {
      verdict = HTTPError(.bodyTooLong, "\(host) sent more than \(most) bytes", .EFBIG)
      return .abort
    }
    received += Int64(body.count)
    let answer = receiver.received(body: body)
    if answer == .abort { verdict = .cancelled }
    return answer
  }

  /// libcurl is about to open a connection, or to send a request on one. A proxy may have any address.
  func mayUse(_ address: HostAddress) -> Bool {
    if request.allowsPrivateHosts && !hasMetPublicHost || !address.isPrivate || asked.proxy != nil {
      return true
    }
    hasRefused = true
    return false
  }

  private func deliverHead() -> HTTPFlow {
    if isHeadDelivered { return .proceed }
    isHeadDelivered = true
    head.effectiveURL = effectiveURL
    head.isFromPrivateHost = asked.proxy == nil && connectedAddress?.isPrivate == true
    head.isDelimitedByClose =
      head.value("content-length") == nil && head.value("transfer-encoding") == nil
      && number(CURLINFO_HTTP_VERSION) < Int(CURL_HTTP_VERSION_2_0)
    let flow = receiver.received(head: head)
    if flow == .abort { verdict = .cancelled }
    return flow
  }

  func refuse(_ error: HTTPError) -> Bool {
    verdict = error
    return false
  }
}
