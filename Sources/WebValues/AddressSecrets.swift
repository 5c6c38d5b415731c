/// What is secret in addresses. Private feeds, and addresses that a host has signed, have their secret in the
/// userinfo, in the query or in the path.
enum AddressSecrets {
  private static let mark = "***"

  /// The address without its secrets; as it is where it has none.
  /// - Parameter isListed: whether segments of the path that look like a token are none.
  static func hidden(in address: String, isListed: Bool) -> String {
    guard let parts = AddressParts(address) else {
      // As people type it, without a scheme.
      if address.contains(where: { "/@".contains($0) }), !address.contains(where: \.isWhitespace),
        !"/.".contains(address.first ?? "/")
      {
        return String(hidden(in: "http://" + address, isListed: isListed).dropFirst(7))
      }
      let path = address.prefix { $0 != "?" && $0 != "#" }
      guard address[path.endIndex...].hasPrefix("?") else { return address }
      let query = address[path.endIndex...].dropFirst().prefix { $0 != "#" }
      return path + "?" + hiding(query) + address[query.endIndex...]
    }
    let start = address[..<parts.authority.startIndex] + parts.place
    let path = hidingSegments(parts.path, isListed: isListed)
    return start + path + (parts.query.map { "?" + hiding($0) } ?? "") + parts.fragment
  }

  /// The address without userinfo and without query fields that are secrets by their name.
  /// - Returns: nil where a segment of its path is a secret.
  static func removed(from address: String) -> String? {
    guard let parts = AddressParts(address) else { return nil }
    guard hidingSegments(parts.path, isListed: true) == parts.path else { return nil }
    let fields = (parts.query ?? "").split(separator: "&").filter { field in
      !QueryField.isSecret(field.prefix { $0 != "=" }.lowercased())
    }
    let query = fields.isEmpty ? "" : "?" + fields.joined(separator: "&")
    return address[..<parts.authority.startIndex] + parts.place + parts.path + query
  }

  private static func hiding(_ query: Substring) -> String {
    query.split(separator: "&", omittingEmptySubsequences: false).map { field in
      guard let equals = field.firstIndex(of: "="), QueryField.isSecret(field[..<equals].lowercased()) else {
        return String(field)
      }
      return field[...equals] + mark
    }.joined(separator: "&")
  }

  /// Hides what follows `private`, JSON web tokens and, where the address is not listed, what looks like a token.
  private static func hidingSegments(_ path: Substring, isListed: Bool) -> String {
    var isPrivate = false
    return path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
      defer { isPrivate = segment == "private" }
      let isToken =
        segment.hasPrefix("eyJ") && segment.utf8.count >= 20 || isPrivate && !segment.isEmpty
        || !isListed && TokenShape.matches(segment)
      return isToken ? Substring(mark) : segment
    }.joined(separator: "/")
  }
}

/// What fields of a query mean, by their names in lower case.
package enum QueryField {
  package static func isSecret(_ name: String) -> Bool {
    isSignature(name) || secrets.contains(name)
      || ["token", "secret", "password"].contains(where: name.hasSuffix)
  }

  /// Whether it signs an address: hosts make it anew for each answer.
  package static func isSignature(_ name: String) -> Bool {
    signatures.contains(name) || name.hasPrefix("x-amz-") || name.hasPrefix("x-goog-")
  }

  private static let signatures: Set<String> = [
    "token", "access_token", "auth", "auth_token", "jwt", "key-pair-id", "policy", "signature", "sig",
    "hdnea", "hdnts", "hmac",
  ]
  private static let secrets: Set<String> = [
    "authkey", "auth_key", "key", "apikey", "api_key", "api-key", "pass", "passwd", "pwd", "pw", "sign",
    "credential",
  ]
}
