package import TransferProtocol

/// A GET request for an enclosure, or a part of it.
package struct MediaRequest: Hashable, Sendable {
  package var url: String
  /// The bytes asked for (RFC 9110 §14.2); nil for the whole, without Range.
  package var range: RequestedRange?
  /// If-Range (RFC 9110 §13.1.5).
  package var validator: String?
  package var userAgent: String?
  package var allowsPrivateHosts = false
  /// Time limits, proxies and authorities.
  package var settings: TransferSettings

  package init(url: String, settings: TransferSettings) {
    self.url = url
    self.settings = settings
  }
}

package struct RequestedRange: Hashable, Sendable {
  package var start: Int64
  /// Behind the last byte; nil for all from `start` on.
  package var end: Int64?

  package init(start: Int64, end: Int64?) {
    self.start = start
    self.end = end
  }
}
