/// Addresses of enclosures, as far as they tell episodes apart.
package enum EnclosureAddress {
  /// What stays of an address when a host renews its signature: no scheme, no fragment and no query keys
  /// that change from one answer to the next (tokens, signatures, times, trackers).
  package static func stable(_ address: WebAddress) -> String {
    var rest = address.forRequest.prefix { $0 != "#" }
    if let colon = rest.firstIndex(of: ":"), rest[colon...].hasPrefix("://") {
      rest = rest[rest.index(colon, offsetBy: 3)...]
    }
    guard let mark = rest.firstIndex(of: "?") else { return String(rest) }
    let kept = rest[rest.index(after: mark)...].split(separator: "&").filter { pair in
      !isVolatile(pair.prefix { $0 != "=" }.lowercased())
    }
    return kept.isEmpty ? String(rest[..<mark]) : rest[...mark] + kept.joined(separator: "&")
  }

  /// The identity of an episode without a guid (ARCHITECTURE.md, Quirks).
  package static func identity(_ address: WebAddress) -> String {
    UUIDv5.text(namespace: UUIDv5.url, name: Array(stable(address).utf8))
  }

  private static func isVolatile(_ key: String) -> Bool {
    volatile.contains(key) || prefixes.contains { key.hasPrefix($0) }
  }

  private static let prefixes = ["x-amz-", "x-goog-", "utm_"]

  private static let volatile: Set<String> = [
    "token", "access_token", "auth", "auth_token", "jwt", "key-pair-id", "policy", "signature", "sig",
    "expires", "expire", "expiry", "exp", "hdnea", "hdnts", "hmac", "googleaccessid", "awsaccesskeyid", "se",
    "sp", "st", "sv", "sr", "spr", "nonce", "ts", "timestamp", "updated", "modified", "_", "cb",
    "cachebuster",
    "nocache", "rand", "random", "session", "sessionid", "sid", "session_id", "listeningsessionid",
  ]
}
