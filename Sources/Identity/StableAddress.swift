package import PodcastModel

/// An enclosure's address without what may change while the episode stays the same: scheme, fragment, signatures, and the
/// trackers that hosts put before an address.
package enum StableAddress {
  /// Host, path and query: "media.example/1.mp3?id=7".
  package static func text(_ address: WebAddress) -> String {
    let whole = address.forRequest.prefix { $0 != "#" }
    let scheme = whole.firstRange(of: "://")
    let rest = scheme.map { whole[$0.upperBound...] } ?? whole
    let mark = rest.firstIndex(of: "?") ?? rest.endIndex
    let segments = rest[..<mark].split(separator: "/", omittingEmptySubsequences: true)
    guard let first = segments.first else { return String(rest) }
    // "dts.podtrac.com/redirect.mp3/media.example/1.mp3": the address begins at the last host's name.
    let start = segments.indices.dropFirst().dropLast().last { isHost(segments[$0]) } ?? 0
    let host = start == 0 ? first : segments[start]
    let place = ([host.lowercased()] + segments[(start + 1)...].map(String.init)).joined(separator: "/")
    let query = rest[mark...].dropFirst().split(separator: "&").filter { pair in
      !isSignature(pair.prefix { $0 != "=" }.lowercased())
    }
    return query.isEmpty ? place : place + "?" + query.joined(separator: "&")
  }

  private static func isHost(_ segment: Substring) -> Bool {
    let labels = segment.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.count >= 2, let top = labels.last, (2...10).contains(top.utf8.count),
      top.utf8.allSatisfy({ (97...122).contains($0 | 0x20) }), !fileEndings.contains(top.lowercased())
    else { return false }
    return labels.allSatisfy { label in
      !label.isEmpty
        && label.utf8.allSatisfy { (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == 45 }
    }
  }

  /// Trackers end their own names like files.
  private static let fileEndings: Set<String> = [
    "mp", "m4a", "mp3", "mp4", "ogg", "opus", "aac", "wav", "flac",
  ]

  /// Whether a key of a query is a signature, its expiry, or a tracker's: what a CDN makes anew for each answer.
  private static func isSignature(_ key: String) -> Bool {
    signatures.contains(key) || ["x-amz-", "x-goog-", "utm_"].contains { key.hasPrefix($0) }
  }

  private static let signatures: Set<String> = [
    "token", "access_token", "auth", "auth_token", "jwt", "key-pair-id", "policy", "signature", "sig",
    "expires", "expire", "expiry", "exp", "hdnea", "hdnts", "hmac", "googleaccessid", "awsaccesskeyid",
    "nonce",
  ]
}
