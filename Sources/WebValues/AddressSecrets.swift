/// What is secret in addresses. Private feeds, and addresses that a host has signed, have their secret in the
/// userinfo, in the query or in the path.
enum AddressSecrets {
  /// What stands for a secret.
  private static let mark = "***"

  /// The address without its secrets; as it is where it has none.
  /// - Parameter isListed: whether what merely looks like a token in the path is none.
  static func hidden(in url: String, isListed: Bool) -> String {
    var url = url
    if let authority = AddressParts.authority(of: url), let at = authority.lastIndex(of: "@") {
      url = String(url[..<authority.startIndex] + url[authority.index(after: at)...])
    }
    let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
    let path = hidingSegments(url[..<end], isListed: isListed)
    guard end < url.endIndex, url[end] == "?" else { return path + url[end...] }
    let query = url[url.index(after: end)...]
    let fragment = query.firstIndex(of: "#") ?? query.endIndex
    let fields = query[..<fragment].split(separator: "&", omittingEmptySubsequences: false).map { field in
      guard let equals = field.firstIndex(of: "="), isSecret(field[..<equals].lowercased()) else {
        return String(field)
      }
      return field[...equals] + mark
    }
    return path + "?" + fields.joined(separator: "&") + query[fragment...]
  }

  /// Hides what follows `private`, JSON web tokens and, where the address is not listed, what may be a token.
  private static func hidingSegments(_ text: Substring, isListed: Bool) -> String {
    let whole = String(text)
    guard let authority = AddressParts.authority(of: whole) else { return whole }
    let path = whole[authority.endIndex...]
    var isPrivate = false
    var isChanged = false
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
      defer { isPrivate = segment == "private" }
      let isToken =
        segment.hasPrefix("eyJ") && segment.utf8.count >= 20 || isPrivate && !segment.isEmpty
        || !isListed && TokenShape.matches(segment)
      if isToken { isChanged = true }
      return isToken ? Substring(mark) : segment
    }
    return isChanged ? whole[..<path.startIndex] + segments.joined(separator: "/") : whole
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
