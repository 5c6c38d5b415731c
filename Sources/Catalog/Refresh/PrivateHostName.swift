internal import HTTPKit

/// Hosts that are private by their name alone.
enum PrivateHostName {
  /// A private address in figures, `localhost`, a name without a dot, or one under a domain for local use
  /// (RFC 6761, RFC 6762, RFC 8375).
  static func isPrivate(_ host: String) -> Bool {
    if let address = HostAddress(host) { return address.isPrivate }
    if !host.contains(".") { return true }
    return suffixes.contains { host.hasSuffix($0) }
  }

  private static let suffixes = [".localhost", ".local", ".lan", ".home", ".home.arpa", ".internal", ".test"]
}
