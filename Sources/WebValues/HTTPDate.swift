/// Dates of header fields (RFC 9110 §5.6.7), in seconds since 1970.
package enum HTTPDate {
  /// Reads the three forms that HTTP has, and all that feeds have. nil for anything else.
  package static func seconds(_ text: String) -> Int64? { DateText.seconds(text) }

  /// Writes the preferred form: "Sun, 06 Nov 1994 08:49:37 GMT".
  package static func text(_ secondsSinceEpoch: Int64) -> String {
    CivilTime.rfc822(secondsSinceEpoch, zone: "GMT")
  }
}
