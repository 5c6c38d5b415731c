/// What of an address may be shown: names, attributes, messages and logs hold no credentials
/// (ARCHITECTURE.md, Trust).
package enum PublicURL {
  /// The address without its userinfo (RFC 3986 §3.2.1) and without tokens (see `withoutSecrets`); as it is
  /// where it has none.
  package static func text(_ url: String) -> String {
    guard let authority = authority(of: url), let at = authority.lastIndex(of: "@") else {
      return withoutSecrets(url)
    }
    return withoutSecrets(String(url[..<authority.startIndex] + url[authority.index(after: at)...]))
  }

  /// The host in lower case, without userinfo and port, an IPv6 address without its brackets; nil where
  /// there is none.
  package static func host(_ url: String) -> String? {
    guard let authority = authority(of: url) else { return nil }
    var host = authority
    if let at = host.lastIndex(of: "@") { host = host[host.index(after: at)...] }
    if host.first == "[" {
      guard let end = host.firstIndex(of: "]") else { return nil }
      host = host[host.index(after: host.startIndex)..<end]
    } else if let colon = host.firstIndex(of: ":") {
      host = host[..<colon]
    }
    return host.isEmpty ? nil : host.lowercased()
  }

  /// The scheme in lower case, where the address begins with one and `//`.
  package static func scheme(_ url: String) -> String? {
    guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
    return url[..<colon].lowercased()
  }

  /// Whether an address may be asked for at all: http or https, with a host.
  package static func isWeb(_ url: String) -> Bool {
    guard let scheme = scheme(url), host(url) != nil else { return false }
    return scheme == "http" || scheme == "https"
  }

  static func authority(of url: String) -> Substring? {
    guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
    return url[url.index(colon, offsetBy: 3)...].prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
  }
}
