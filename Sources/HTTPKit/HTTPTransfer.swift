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
  unowned let session: HTTPSession
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
  private var hasMetPublicHost = false
  /// Why a callback ended the transfer: says more than libcurl's result.
  private(set) var verdict: HTTPError?
  /// Since when the server owes a byte; nil while a connection is being made (which has its own bound).
  var waitingSince: MonotonicTime?
  /// libcurl's words for what went wrong.
  let words: UnsafeMutablePointer<CChar>
  private var lists: [UnsafeMutablePointer<curl_slist>] = []

  init(
    _ id: HTTPSession.TaskID, _ request: HTTPRequest, _ receiver: any HTTPResponseReceiver,
    _ session: HTTPSession
  ) throws(HTTPError) {
    guard WebAddress(request.url.trimmed).isWeb else { throw .notOfTheWeb }
    guard let easy = podcastfs_curl_easy_init() else { throw HTTPError(.other, "no memory", .ENOMEM) }
    self.id = id
    self.easy = easy
    self.request = request
    self.receiver = receiver
    self.session = session
    asked = (WebAddress(request.url.trimmed), nil)
    words = .allocate(capacity: Int(CURL_ERROR_SIZE))
    words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    apply()
  }

  deinit {
    podcastfs_curl_easy_cleanup(easy)
    for list in lists { podcastfs_curl_slist_free_all(list) }
    words.deallocate()
  }

  /// The transfer that an easy handle belongs to.
  static func of(_ easy: UnsafeMutableRawPointer) -> HTTPTransfer? {
    var pointer: UnsafeMutablePointer<CChar>?
    podcastfs_curl_get_string(easy, CURLINFO_PRIVATE, &pointer)
    return pointer.map { Unmanaged<HTTPTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Keeps a list alive as long as the handle that uses it.
  func list(of lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines { list = podcastfs_curl_slist_append(list, line) ?? list }
    if let list { lists.append(list) }
    return list
  }
}

extension HTTPTransfer {
  /// When the server will have been silent for too long.
  var stallDeadline: MonotonicTime? {
    if isHeld { return nil }
    return waitingSince?.adding(
      redirect == nil ? request.stallTimeout : min(request.stallTimeout, Self.redirectPatience))
  }

  /// Seconds that a redirect's body may take from its head on: that its connection stays is not worth more.
  private static let redirectPatience = 1.0

  /// Stops reading from the host until `resume`. The receiver still gets the bytes that libcurl has read already.
  func pause() {
    if isHeld { return }
    isHeld = true
    podcastfs_curl_easy_pause(easy, CURLPAUSE_RECV)
  }

  /// Goes on after a pause; the result where that ended it.
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
    var error: HTTPError? =
      switch ending {
      case .cancelled: .cancelled
      case .stalled:
        HTTPError(.stalled, "\(host) sent nothing for \(seconds(request.stallTimeout))", .ETIMEDOUT)
      case .result(CURLE_OK): lastWord()
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
    if headSize > Self.headLimit { return refuse(.headTooLong(host)) }
    let isBlank = line.allSatisfy { $0 == 13 || $0 == 10 }
    let status = number(CURLINFO_RESPONSE_CODE)
    guard isBlank, status >= 200, !isHeadDelivered, redirect == nil else { return true }
    head.status = status
    head.headers = fields
    if head.hasTwoLengths { return refuse(.twoLengths(host)) }
    if head.isRedirect, let location = head.value("location") { return lead(to: location) }
    return deliverHead() != .abort
  }

  func received(body: UnsafeRawBufferPointer) -> HTTPFlow {
    if redirect != nil { return ignore(body.count) }
    waitingSince = .now
    if deliverHead() == .abort { return .abort }
    if body.isEmpty { return .proceed }
    if let most = request.maximumBody, received + Int64(body.count) > most {
      _ = refuse(.bodyTooLong(host, most))
      return .abort
    }
    received += Int64(body.count)
    let answer = receiver.received(body: body)
    if answer == .abort { verdict = .cancelled }
    return answer
  }

  /// libcurl is about to open a connection: that has a bound of its own.
  func connecting() { waitingSince = nil }

  /// libcurl is about to open a connection, or to send a request on one. A proxy may have any address.
  func mayUse(_ address: HostAddress) -> Bool {
    if request.allowsPrivateHosts && !hasMetPublicHost || !address.isPrivate || asked.proxy != nil {
      return true
    }
    hasRefused = true
    return false
  }

  /// The host that is asked leads elsewhere: leave to reach private hosts ends with the first public one.
  func leavePrivateHosts() {
    if asked.proxy == nil, connectedAddress?.isPrivate == false { hasMetPublicHost = true }
  }

  func sending() { waitingSince = .now }

  /// Whether there is no connection yet for the address that is being asked.
  var isConnecting: Bool { waitingSince == nil }

  private func deliverHead() -> HTTPFlow {
    if isHeadDelivered { return .proceed }
    isHeadDelivered = true
    if let most = request.maximumBody, let length = head.value("content-length").flatMap({ Int64($0) }),
      length > most, (200..<300).contains(head.status)
    {
      _ = refuse(.bodyTooLong(host, most))
      return .abort
    }
    head.effectiveURL = effectiveURL
    head.isFromPrivateHost = asked.proxy == nil && connectedAddress?.isPrivate == true
    head.isDelimitedByClose =
      head.value("content-length") == nil && head.value("transfer-encoding") == nil
      && number(CURLINFO_HTTP_VERSION) < Int(CURL_HTTP_VERSION_2_0)
    let flow = receiver.received(head: head)
    if flow == .abort { verdict = .cancelled }
    return flow
  }

  /// The end of a response that has come whole: its head, where it had no body, and what was thought of it.
  private func lastWord() -> HTTPError? {
    _ = deliverHead()
    return verdict
  }

  func refuse(_ error: HTTPError) -> Bool {
    verdict = error
    return false
  }
}
