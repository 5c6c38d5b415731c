internal import CCurl
internal import Glibc
package import PosixKit
internal import WebValues

/// A request that got no usable response. A response of any status is no error here.
package struct HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    case nameNotResolved, connectionRefused, networkUnreachable, timedOut, stalled, tls, tooManyRedirects
    case refusedAddress, unsupportedScheme, malformedURL, connectionLost, shortBody, protocolError
    case bodyTooLong, cancelled, proxy, other
  }
  package var code: Code
  /// One line that a person understands, with the host.
  package var message: String
  /// The errno that fits for a caller who waits.
  package var errno: Errno
  /// The host that has not answered at all; nil where one has, or none was asked.
  package var silentHost: String?
  /// Whether the lookup of a name led to a refused address: another network's DNS may answer otherwise.
  package var isByLookup = false

  package init(_ code: Code, _ message: String, _ errno: Errno) {
    self.code = code
    self.message = message
    self.errno = errno
  }

  package var description: String { message }

  /// What `HTTPTask.cancel()`, `HTTPFlow.abort` and `HTTPClient.stop()` end with.
  package static let cancelled = HTTPError(.cancelled, "cancelled", .ECANCELED)
}

extension HTTPTransfer {
  /// Messages name the host and hold nothing else of the address: its userinfo and query may be secrets.
  func error(_ code: CURLcode) -> HTTPError {
    switch code {
    case CURLE_COULDNT_CONNECT where hasRefused, CURLE_ABORTED_BY_CALLBACK where hasRefused:
      return .refusedAddress(host)
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: return unresolved
    case CURLE_COULDNT_CONNECT: return unconnected
    case CURLE_OPERATION_TIMEDOUT: return timedOut
    case CURLE_UNSUPPORTED_PROTOCOL: return unsupported
    case CURLE_URL_MALFORMAT: return .notOfTheWeb
    case CURLE_PARTIAL_FILE:
      return HTTPError(.shortBody, "\(host) closed the connection before the end", .EIO)
    case CURLE_SSL_CONNECT_ERROR where systemError == .ECONNRESET || systemError == .EPIPE: return lost
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_AGAIN, CURLE_GOT_NOTHING, CURLE_HTTP2_STREAM, CURLE_HTTP2:
      return lost
    case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
      return HTTPError(.protocolError, "\(host) did not answer with HTTP: \(reason(code))", .EIO)
    case CURLE_PROXY: return HTTPError(.proxy, "the proxy for \(host) failed: \(reason(code))", .EIO)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER,
      CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT, CURLE_SSL_INVALIDCERTSTATUS:
      return HTTPError(.tls, "TLS: no secure connection to \(host): \(reason(code))", .EIO)
    default:
      return HTTPError(.other, "\(host): \(reason(code))", .EIO)
    }
  }

  private var unresolved: HTTPError {
    NetworkState.current.isEmpty
      ? HTTPError(.networkUnreachable, "no network (looking for \(proxy == nil ? host : peer))", .ENETUNREACH)
      : HTTPError(proxy == nil ? .nameNotResolved : .proxy, "cannot find \(peer)", .EHOSTUNREACH)
  }

  private var unconnected: HTTPError {
    let whom = proxy == nil ? host : peer
    // libcurl does not always tell.
    let errno = systemError.rawValue == 0 ? .ECONNREFUSED : systemError
    let (code, message): (HTTPError.Code, String) =
      switch errno {
      case .ECONNREFUSED: (.connectionRefused, "connection refused by \(whom)")
      case .ENETUNREACH: (.networkUnreachable, "no network (connecting to \(whom))")
      case .EHOSTUNREACH: (.networkUnreachable, "cannot reach \(peer)")
      case .ETIMEDOUT: (.timedOut, "no connection to \(whom): timed out")
      default: (.connectionLost, "no connection to \(whom): \(errno)")
      }
    // A proxy that is away says nothing of the network beyond it.
    return HTTPError(proxy != nil && errno != .ENETUNREACH ? .proxy : code, message, errno)
  }

  /// Whom the connection is to be made to, in words.
  private var peer: String { proxy.map { "the proxy \($0) (for \(host))" } ?? "the host \(host)" }
  private var proxy: String? { asked.proxy.map(ProxyRules.name) }

  private var timedOut: HTTPError {
    let way = proxy.map { " through the proxy \($0)" } ?? ""
    // No connection has been made yet.
    return waitingSince == nil
      ? HTTPError(
        proxy == nil ? .timedOut : .proxy,
        "no connection to \(host)\(way) in \(seconds(request.connectTimeout))", .ETIMEDOUT)
      : HTTPError(.timedOut, "\(host) took longer than \(seconds(request.totalTimeout ?? 0))", .ETIMEDOUT)
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
}

extension HTTPError {
  static let notOfTheWeb = HTTPError(.malformedURL, "not a valid web address", .EINVAL)

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
