package import PosixKit

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
