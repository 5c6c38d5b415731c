package import TransferProtocol

package struct MediaRequest: Hashable, Sendable {
  package var url: String
  /// The bytes asked for (RFC 9110 §14.2), .max behind them where that is all; nil for the whole, without Range.
  package var range: Range<Int64>?
  /// If-Range (RFC 9110 §13.1.5).
  package var validator: String?
  package var userAgent: String?
  package var allowsPrivateHosts = false
  /// Time limits, proxies and authorities.
  package var settings: TransferSettings
}
