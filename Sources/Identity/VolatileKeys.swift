/// Keys of a query that change from one answer of a host to the next.
enum VolatileKeys {
  /// Sure by their name: signatures and their expiry, as CDNs make them, and keys of trackers.
  static func isSignature(_ key: String) -> Bool {
    signatures.contains(key) || prefixes.contains { key.hasPrefix($0) }
  }

  /// May be a session, a time or a cache buster, or the very number of the episode.
  static func mayBeSession(_ key: String) -> Bool { sessions.contains(key) }

  private static let prefixes = ["x-amz-", "x-goog-", "utm_"]

  private static let signatures: Set<String> = [
    "token", "access_token", "auth", "auth_token", "jwt", "key-pair-id", "policy", "signature", "sig",
    "expires",
    "expire", "expiry", "exp", "hdnea", "hdnts", "hmac", "googleaccessid", "awsaccesskeyid", "nonce",
  ]

  private static let sessions: Set<String> = [
    "se", "sp", "st", "sv", "sr", "spr", "ts", "timestamp", "updated", "modified", "_", "cb", "cachebuster",
    "nocache", "rand", "random", "session", "sessionid", "sid", "session_id", "listeningsessionid",
  ]
}
