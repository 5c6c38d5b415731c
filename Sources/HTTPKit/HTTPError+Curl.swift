internal import CCurl
internal import Glibc
internal import PosixKit
internal import WebValues

extension HTTPTransfer {
  /// libcurl's result as an error of ours. Messages name the host and hold nothing else of the address: its
  /// userinfo and query may be secrets.
  func error(_ code: CURLcode) -> HTTPError {
    switch code {
    case CURLE_COULDNT_CONNECT where hasRefused, CURLE_ABORTED_BY_CALLBACK where hasRefused:
      return .refusedAddress(host)
    case CURLE_COULDNT_RESOLVE_HOST: return unresolved
    case CURLE_COULDNT_RESOLVE_PROXY: return unresolved
    case CURLE_COULDNT_CONNECT: return unconnected
    case CURLE_OPERATION_TIMEDOUT: return timedOut
    case CURLE_UNSUPPORTED_PROTOCOL: return unsupported
    case CURLE_URL_MALFORMAT: return HTTPError(.malformedURL, "not a valid web address", .EINVAL)
    case CURLE_PARTIAL_FILE:
      return HTTPError(.shortBody, "\(host) closed the connection before the end", .EIO)
    case CURLE_HTTP2_STREAM, CURLE_HTTP2:
      return HTTPError(.streamError, "\(host) broke off (HTTP/2 stream error)", .EIO)
    case CURLE_GOT_NOTHING:
      return HTTPError(.connectionLost, "\(host) closed the connection without an answer", .ECONNRESET)
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_AGAIN: return lost
    case CURLE_WEIRD_SERVER_REPLY:
      return HTTPError(.protocolError, "\(host) did not answer with HTTP", .EIO)
    case CURLE_BAD_CONTENT_ENCODING:
      return HTTPError(.protocolError, "\(host) sent a damaged compressed body", .EIO)
    case CURLE_WRITE_ERROR: return HTTPError(.writeRefused, "what \(host) sent was refused", .EIO)
    case CURLE_OUT_OF_MEMORY: return HTTPError(.other, "no memory for a request to \(host)", .ENOMEM)
    case CURLE_PROXY: return HTTPError(.proxy, "the proxy for \(host) failed: \(reason(code))", .EIO)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      return HTTPError(.tls, "TLS: certificate of \(host) is not valid: \(reason(code))", .EIO)
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE:
      return HTTPError(.tls, "TLS: cannot read the certificate authorities: \(reason(code))", .EIO)
    case CURLE_SSL_CONNECT_ERROR:
      if systemError == .ECONNRESET || systemError == .EPIPE { return lost }
      return HTTPError(.tls, "TLS: no secure connection to \(host): \(reason(code))", .EIO)
    case CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT, CURLE_SSL_INVALIDCERTSTATUS:
      return HTTPError(.tls, "TLS: no secure connection to \(host): \(reason(code))", .EIO)
    default:
      return HTTPError(.other, "\(host): \(reason(code))", .EIO)
    }
  }

  private var unresolved: HTTPError {
    Self.hasNetwork
      ? HTTPError(proxy == nil ? .nameNotResolved : .proxy, "cannot find \(peer)", .EHOSTUNREACH)
      : HTTPError(.networkUnreachable, "no network (looking for \(proxy == nil ? host : peer))", .ENETUNREACH)
  }

  private var unconnected: HTTPError {
    let whom = proxy == nil ? host : peer
    // A proxy that is away says nothing of the network beyond it.
    func error(_ code: HTTPError.Code, _ message: String, _ errno: Errno) -> HTTPError {
      HTTPError(proxy == nil ? code : .proxy, message, errno)
    }
    return switch systemError {
    case .ECONNREFUSED: error(.connectionRefused, "connection refused by \(whom)", .ECONNREFUSED)
    case .ENETUNREACH:
      HTTPError(.networkUnreachable, "no network (connecting to \(whom))", .ENETUNREACH)
    case .ETIMEDOUT: error(.timedOut, "no connection to \(whom): timed out", .ETIMEDOUT)
    case .EHOSTUNREACH: error(.networkUnreachable, "cannot reach \(peer)", .EHOSTUNREACH)
    case let errno where errno.rawValue != 0:
      error(.connectionLost, "no connection to \(whom): \(errno)", errno)
    default: error(.connectionRefused, "no connection to \(whom)", .ECONNREFUSED)
    }
  }

  /// Whom the connection is to be made to, in words.
  private var peer: String { proxy.map { "the proxy \($0) (for \(host))" } ?? "the host \(host)" }

  private var proxy: String? { proxyRules.name(for: effectiveURL) }

  private var timedOut: HTTPError {
    if isConnecting, let proxy {
      // The socket has a port once the proxy has taken the connection: what is missing is the one behind it.
      let isTaken = number(CURLINFO_LOCAL_PORT) > 0
      let what = isTaken ? "no connection to \(host) through the proxy \(proxy)" : "no connection to \(peer)"
      return HTTPError(.proxy, "\(what) in \(seconds(request.connectTimeout))", .ETIMEDOUT)
    }
    if isConnecting {
      return HTTPError(
        .timedOut, "no connection to \(host) in \(seconds(request.connectTimeout))", .ETIMEDOUT)
    }
    return HTTPError(
      .timedOut, "\(host) took longer than \(seconds(request.totalTimeout ?? 0))", .ETIMEDOUT)
  }

  /// A redirect to another scheme, or HTTP/0.9.
  private var unsupported: HTTPError {
    if let last = head.redirects.last, !WebAddress(last.location).isWeb {
      return HTTPError(.unsupportedScheme, "\(host) redirects to an address that is not of the web", .EIO)
    }
    return HTTPError(.protocolError, "\(host) did not answer with HTTP", .EIO)
  }

  private var lost: HTTPError {
    let answer = number(CURLINFO_HTTP_CONNECTCODE)
    if answer != 0, answer / 100 != 2 {
      return HTTPError(.proxy, "the proxy refused a connection to \(host) (HTTP \(answer))", .EIO)
    }
    return HTTPError(.connectionLost, "the connection to \(host) broke off", .ECONNRESET)
  }

  private var systemError: Errno { Errno(rawValue: Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO))) }

  /// libcurl's own words: of certificates, files and protocol only, never of an address's userinfo or query.
  private func reason(_ code: CURLcode) -> String {
    let text = String(cString: words)
    return text.isEmpty ? String(cString: podcastfs_curl_easy_strerror(code)) : text.trimmed
  }

  /// Whether any interface but the loopback is up with an address.
  private static var hasNetwork: Bool {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return true }
    defer { freeifaddrs(first) }
    var next = first
    while let entry = next {
      next = entry.pointee.ifa_next
      guard let address = entry.pointee.ifa_addr else { continue }
      let family = Int32(address.pointee.sa_family)
      let flags = Int32(bitPattern: entry.pointee.ifa_flags)
      let isUp = flags & Int32(IFF_UP) != 0 && flags & Int32(IFF_LOOPBACK) == 0
      if isUp && (family == AF_INET || family == AF_INET6) { return true }
    }
    return false
  }
}

extension HTTPError {
  static func headTooLong(_ host: String) -> HTTPError {
    HTTPError(.protocolError, "\(host) sent headers without end", .EIO)
  }
  static func twoLengths(_ host: String) -> HTTPError {
    HTTPError(.protocolError, "\(host) sent two lengths for one body", .EIO)
  }
  static func tooManyRedirects(_ most: Int, at host: String) -> HTTPError {
    HTTPError(.tooManyRedirects, "more than \(most) redirects, at \(host)", .EIO)
  }
  static func bodyTooLong(_ host: String, _ most: Int64) -> HTTPError {
    HTTPError(.bodyTooLong, "\(host) sent more than \(most) bytes", .EFBIG)
  }
  static func refusedAddress(_ host: String) -> HTTPError {
    var error = HTTPError(
      .refusedAddress, "\(host) has a private address, to which a public host must not lead", .EACCES)
    error.isByLookup = HostAddress(host) == nil && host != "localhost" && !host.hasSuffix(".localhost")
    return error
  }
}

/// "30 s", "0.5 s".
func seconds(_ value: Double) -> String {
  value == value.rounded() && abs(value) < 1e9 ? "\(Int(value)) s" : "\(value) s"
}
