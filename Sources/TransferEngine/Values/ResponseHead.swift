internal import PodcastModel

package struct ResponseHead: Hashable, Sendable {
  package var status: Int
  package var url: String
  /// The body's length as sent.
  package var length: Int64?
  /// What a 206 says that it holds (RFC 9110 §14.4); nil where that is of no use.
  package var part: Range<Int64>?
  /// The whole's size by Content-Range, of a 206 or a 416.
  package var partTotal: Int64?
  /// A strong entity tag, with its quotes.
  package var entityTag: String?
  package var lastModified: String?
  /// In lower case, without parameters.
  package var mediaType: String?
  /// In lower case; nil for none and identity.
  package var encoding: String?
  /// Whether it says that ranges may be asked for.
  package var acceptsRanges = false
  /// Seconds.
  package var retryAfter: Int64?
  package var isDelimitedByClose = false
  /// Whether the host that answered is one that the public Internet can't mean.
  package var isFromPrivateHost = false

  package init(status: Int, url: String) { (self.status, self.url) = (status, url) }

  /// Whether the body is the whole representation: a 203 is a 200 that a proxy has changed (RFC 9110 §15.3.4).
  package var isWhole: Bool { status == 200 || status == 203 }

  /// The host that answered, for messages.
  var host: String { WebAddress(url).host ?? "the server" }
}
