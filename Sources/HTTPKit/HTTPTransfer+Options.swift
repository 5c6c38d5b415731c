internal import CCurl
internal import Glibc
internal import PosixKit
internal import WebValues

extension HTTPTransfer {
  /// The receive buffer, in bytes: each transfer has one. Larger ones were no faster, and many take room.
  static let bufferSize = 64 * 1024

  func apply() {
    let this = Unmanaged.passUnretained(self).toOpaque()
    set(CURLOPT_PRIVATE, this)
    set(CURLOPT_ERRORBUFFER, words)
    set(CURLOPT_NOSIGNAL, 1)
    // Seconds. In another network a name leads elsewhere: behind a captive portal it led to that.
    set(CURLOPT_DNS_CACHE_TIMEOUT, 1)
    // Do not wait for a resolver's thread when the transfer ends: one dead name server would hold up all.
    set(CURLOPT_QUICK_EXIT, 1)
    setURL(request.url.trimmed)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_COOKIEFILE, "")
    set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    // Which proxy is decided here, for each address on the way: the environment may be another process's.
    set(CURLOPT_NOPROXY, "")
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    if let file = request.certificateAuthorities {
      set(CURLOPT_CAINFO, file)
      podcastfs_curl_set_string(easy, CURLOPT_CAPATH, nil)
    }
    if let body = request.body { set(CURLOPT_COPYPOSTFIELDS, body) }
    setHeaders()
    set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(request.connectTimeout))
    setTimeLeft()
    set(CURLOPT_BUFFERSIZE, Self.bufferSize)
    set(CURLOPT_TCP_KEEPALIVE, 1)
    setCallbacks(this)
  }

  func setURL(_ url: String) {
    let address = WebAddress(url)
    let encoded = address.encoded
    let rules = ProxyRules(proxy: request.proxy, variables: request.proxyVariables)
    asked = (address, rules.address(for: encoded))
    set(CURLOPT_URL, encoded)
    set(CURLOPT_PROXY, asked.proxy ?? "")
  }

  /// - Parameter leaves: whether the host that is asked now is not the request's own: its credentials are not for it.
  func setHeaders(leaves: Bool = false) {
    if let agent = request.userAgent { set(CURLOPT_USERAGENT, Self.line(agent)) }
    let headers = request.headers.filter { !(leaves && Self.credentials.contains($0.name.lowercased())) }
    var fields = headers.map { name, value in
      value.isEmpty ? "\(Self.line(name));" : "\(Self.line(name)): \(Self.line(value))"
    }
    if request.acceptsCompression {
      set(CURLOPT_ACCEPT_ENCODING, "gzip")
      if !request.decompresses { set(CURLOPT_HTTP_CONTENT_DECODING, 0) }
    } else {
      fields.append("Accept-Encoding: identity")
    }
    var list: UnsafeMutablePointer<curl_slist>?
    for field in fields { list = podcastfs_curl_slist_append(list, field) ?? list }
    podcastfs_curl_set_list(easy, CURLOPT_HTTPHEADER, list)
    podcastfs_curl_slist_free_all(lines)
    lines = list
  }

  private static let credentials: Set = ["authorization", "cookie"]

  func setTimeLeft() {
    guard let total = request.totalTimeout else { return }
    set(CURLOPT_TIMEOUT_MS, Self.milliseconds(total - MonotonicTime.now.seconds(since: began)))
  }

  private func setCallbacks(_ this: UnsafeMutableRawPointer) {
    set(CURLOPT_HEADERDATA, this)
    podcastfs_curl_set_data_callback(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
      guard let this else { return 0 }
      let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return HTTPTransfer.at(this).received(headerLine: line) ? line.count : 0
    }
    set(CURLOPT_WRITEDATA, this)
    podcastfs_curl_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
      guard let this else { return 0 }
      let body = UnsafeRawBufferPointer(start: bytes, count: size * count)
      switch HTTPTransfer.at(this).received(body: body) {
      case .proceed: return body.count
      // Any count but the right one ends the transfer; 0 would be right for an empty piece.
      case .abort: return body.count &+ 1
      }
    }
    set(CURLOPT_OPENSOCKETDATA, this)
    podcastfs_curl_set_open_socket(easy, CURLOPT_OPENSOCKETFUNCTION) { this, _, address in
      guard let this, let address else { return CURL_SOCKET_BAD }
      return HTTPTransfer.at(this).openSocket(address)
    }
    // A connection that is used again, perhaps one that a request made which may reach private hosts.
    set(CURLOPT_PREREQDATA, this)
    podcastfs_curl_set_before_request(easy, CURLOPT_PREREQFUNCTION) { this, address, _, _, _ in
      guard let this, let address else { return CURL_PREREQFUNC_ABORT }
      let transfer = HTTPTransfer.at(this)
      guard let host = HostAddress(String(cString: address)), transfer.mayUse(host) else {
        return CURL_PREREQFUNC_ABORT
      }
      transfer.waitingSince = .now
      return CURL_PREREQFUNC_OK
    }
  }

  /// socket(2) for an address that libcurl wants to connect to, unless it is refused.
  private func openSocket(_ address: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
    let kind = address.pointee
    // In sockaddr_in and sockaddr_in6. (libcurl declares the address too short for IPv6.)
    let place = kind.family == AF_INET ? 4..<8 : kind.family == AF_INET6 ? 8..<24 : 0..<0
    let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
    let bytes = UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + start, count: place.upperBound)
    guard mayUse(HostAddress(bytes: Array(bytes[place]))) else { return CURL_SOCKET_BAD }
    // A connection has a bound of its own.
    waitingSince = nil
    return socket(kind.family, kind.socktype | Int32(SOCK_CLOEXEC.rawValue), kind.protocol)
  }

  static func at(_ pointer: UnsafeMutableRawPointer) -> HTTPTransfer {
    Unmanaged<HTTPTransfer>.fromOpaque(pointer).takeUnretainedValue()
  }
}

extension HTTPTransfer {
  private func set(_ option: CURLoption, _ value: Int) { podcastfs_curl_set_long(easy, option, value) }
  private func set(_ option: CURLoption, _ value: String) { podcastfs_curl_set_string(easy, option, value) }
  private func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
    podcastfs_curl_set_pointer(easy, option, value)
  }

  private static func milliseconds(_ seconds: Double) -> Int { Int(min(max(seconds * 1000, 1), 1e9)) }

  /// A header's text without what would end the line.
  private static func line(_ text: String) -> String {
    String(decoding: text.utf8.map { $0 < 32 || $0 == 127 ? 32 : $0 }, as: UTF8.self)
  }
}

extension String {
  /// Without blanks and line ends around it.
  var trimmed: String {
    let end = drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }
    return String(end.reversed())
  }
}
