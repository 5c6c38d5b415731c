internal import WebValues

extension HTTPResponseHead {
  /// Whether a response of this status with a Location leads elsewhere (RFC 9110 §15.4).
  var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }

  /// Whether it tells more than one length of a body that it delimits (RFC 9112 §6.3): nobody knows where that ends.
  var hasTwoLengths: Bool {
    if value("transfer-encoding") != nil { return false }
    let lengths = headers.filter { $0.name == "content-length" }.flatMap { $0.value.split(separator: ",") }
    return Set(lengths.map { ContentRange.number(Substring(String($0).trimmed)) }).count > 1
  }

  /// The body's length as sent, in bytes (RFC 9110 §8.6); nil where its chunks delimit it (RFC 9112 §6.3).
  package var contentLength: Int64? {
    if value("transfer-encoding") != nil { return nil }
    return value("content-length").flatMap { ContentRange.number(Substring($0)) }
  }

  package var contentRange: ContentRange? { value("content-range").flatMap { ContentRange($0) } }

  /// The media type in lower case, without parameters (RFC 9110 §8.3).
  package var mediaType: String? {
    let essence = value("content-type").map(MediaType.essence) ?? ""
    return essence.isEmpty ? nil : essence
  }

  /// The charset parameter of the media type, in lower case.
  package var charset: String? {
    for parameter in value("content-type")?.split(separator: ";").dropFirst() ?? [] {
      let parts = parameter.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, String(parts[0]).trimmed.lowercased() == "charset" else { continue }
      let value = parts[1].filter { !"\"' \t".contains($0) }
      return value.isEmpty ? nil : value.lowercased()
    }
    return nil
  }

  /// The entity tag where it is a strong one: the only kind that joins ranges (RFC 9110 §8.8.1, §14.2).
  package var strongETag: String? {
    guard let tag = value("etag"), tag.count >= 2, tag.first == "\"", tag.last == "\"" else { return nil }
    return tag
  }

  /// Seconds to wait before another request (RFC 9110 §10.2.3), not below 0; nil where the server does not say.
  /// - Parameter now: seconds since 1970, for servers that give a date and no `Date` of their own.
  package func retryAfter(now: Int64) -> Int64? {
    guard let text = value("retry-after") else { return nil }
    // More than a number can be is long (ten years), not nothing.
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
      return min(Int64(text) ?? .max, 315_360_000)
    }
    guard let date = DateText.seconds(text) else { return nil }
    // The server's own clock, where it tells it: ours may be wrong.
    let reference = value("date").flatMap(DateText.seconds) ?? now
    return max(date - reference, 0)
  }

  /// The body's coding, in lower case; nil for none and identity (RFC 9110 §8.4).
  package var contentEncoding: String? {
    guard let coding = value("content-encoding")?.lowercased(), !coding.isEmpty, coding != "identity" else {
      return nil
    }
    return coding
  }
}
