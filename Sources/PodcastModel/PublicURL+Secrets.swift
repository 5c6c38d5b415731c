// Private feeds, and addresses that a host has signed, have their secret in the query or in the path.
extension PublicURL {
  /// What stands for a secret.
  static let hidden = "***"

  /// The address without the values of query fields that are secrets by their name, and without path
  /// segments that are: what follows `private`, and JSON web tokens.
  static func withoutSecrets(_ url: String) -> String {
    let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
    let path = hidingSegments(url[..<end])
    guard end < url.endIndex, url[end] == "?" else { return path + url[end...] }
    let query = url[url.index(after: end)...]
    let fragment = query.firstIndex(of: "#") ?? query.endIndex
    let fields = query[..<fragment].split(separator: "&", omittingEmptySubsequences: false).map { field in
      guard let equals = field.firstIndex(of: "="), isSecret(field[..<equals].lowercased()) else {
        return String(field)
      }
      return field[...equals] + hidden
    }
    return path + "?" + fields.joined(separator: "&") + query[fragment...]
  }

  private static func hidingSegments(_ path: Substring) -> String {
    guard path.contains("/private/") || path.contains("/eyJ") else { return String(path) }
    var isPrivate = false
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
      defer { isPrivate = segment == "private" }
      let isToken = segment.hasPrefix("eyJ") && segment.utf8.count >= 20
      return isToken || isPrivate && !segment.isEmpty ? Substring(hidden) : segment
    }
    return segments.joined(separator: "/")
  }

  private static func isSecret(_ name: String) -> Bool {
    secrets.contains(name) || name.hasPrefix("x-amz-") || name.hasPrefix("x-goog-")
      || name.hasSuffix("token") || name.hasSuffix("secret") || name.hasSuffix("password")
  }

  private static let secrets: Set<String> = [
    "auth", "authkey", "auth_key", "key", "apikey", "api_key", "api-key", "jwt", "pass", "passwd", "pwd",
    "pw",
    "signature", "sig", "sign", "policy", "key-pair-id", "credential", "hmac", "hdnea", "hdnts",
  ]
}
