/// A GET request; with a body, a POST request.
package struct HTTPRequest: Sendable {
  /// http or https; may hold credentials, which are sent to that host only, as Basic authorization.
  package var url: String
  package var headers: [(name: String, value: String)] = []
  /// What a POST request carries: text without a NUL. A redirect gets it too: allow none where that must not be.
  package var body: String?
  package var userAgent: String?
  /// Whether to ask for gzip (feeds), or for the bytes as they are (media).
  package var acceptsCompression = false
  /// Whether a body is decompressed by what its Content-Encoding says; else it comes as it was sent.
  package var decompresses = true
  /// Overrides the environment's `http_proxy` and `https_proxy`; empty for none.
  package var proxy: String?
  /// `http_proxy` and the like (libcurl-env(3)); nil for those of the process's environment.
  package var proxyVariables: [String: String]?
  /// Whether it and its redirects may connect to private addresses; checked on the address connected to.
  package var allowsPrivateHosts = false
  package var maximumRedirects = 20
  /// In seconds, all of them.
  package var connectTimeout: Double = 15
  /// Seconds without a single byte after which the request fails.
  package var stallTimeout: Double = 30
  /// Seconds for the whole; nil for no bound.
  package var totalTimeout: Double?
  /// In bytes: longer bodies fail.
  package var maximumBody: Int64?
  /// A file with certificate authorities to trust in place of the system's.
  package var certificateAuthorities: String?

  package init(url: String) { self.url = url }
}

/// The head of the final response, after redirects.
package struct HTTPResponseHead: Sendable {
  package var status: Int
  /// In the order received, names in lower case.
  package var headers: [(name: String, value: String)]
  package var effectiveURL: String
  /// Each redirect on the way: its status and the address it led to.
  package var redirects: [(status: Int, location: String)]
  /// Whether it came from a private address, and by no proxy: such a host may name private addresses too.
  package var isFromPrivateHost = false

  /// Whether the body ends where the connection does (RFC 9112 §6.3): its end and a cut look the same.
  package var isDelimitedByClose = false

  package init(
    status: Int, headers: [(name: String, value: String)], effectiveURL: String,
    redirects: [(status: Int, location: String)]
  ) {
    (self.status, self.headers) = (status, headers)
    (self.effectiveURL, self.redirects) = (effectiveURL, redirects)
  }

  /// The last one of that lower-case name.
  package func value(_ name: String) -> String? { headers.last { $0.name == name }?.value }
}

package struct HTTPResponse: Sendable {
  package var head: HTTPResponseHead
  package var body: [UInt8]
}

/// Hears one head, bodies and one end, on the client's thread. It must not wait for anything but the disk.
package protocol HTTPResponseReceiver: AnyObject, Sendable {
  /// The final response's head, also of 4xx and 5xx; `.abort` ends the request as cancelled.
  func received(head: HTTPResponseHead) -> HTTPFlow
  func received(body: UnsafeRawBufferPointer) -> HTTPFlow
  /// The end: nil where the whole body came.
  func finished(_ error: HTTPError?)
}

package enum HTTPFlow: Sendable {
  case proceed, abort
}
