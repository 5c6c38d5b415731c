/// What tells one representation of an enclosure from another (RFC 9110 §8.8): the server's file may change,
/// and some servers answer every request with a different one.
package struct Representation: Hashable, Sendable {
  /// The exact size in bytes; nil while the server gives none.
  package var total: Int64?
  /// A strong entity tag, with its quotes. Weak ones say nothing of bytes and are not kept.
  package var entityTag: String?
  /// Last-Modified, verbatim.
  package var lastModified: String?
  /// The address that answered, after all redirects.
  package var finalURL: String

  package init(
    total: Int64? = nil, entityTag: String? = nil, lastModified: String? = nil, finalURL: String = ""
  ) {
    (self.total, self.entityTag, self.lastModified) = (total, entityTag, lastModified)
    self.finalURL = finalURL
  }

  /// What If-Range takes: the strong entity tag, else Last-Modified (RFC 9110 §13.1.5).
  package var validator: String? { entityTag ?? lastModified }

  /// With what is known of the size of the same bytes, where the server does not say it this time.
  package func completed(by former: Representation) -> Representation {
    guard total == nil, entityTag != nil, entityTag == former.entityTag, lastModified == former.lastModified
    else { return self }
    var known = self
    known.total = former.total
    return known
  }
}
