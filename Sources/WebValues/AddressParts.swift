/// Where the parts of an address stand (RFC 3986 §3), read as leniently as they come.
package enum AddressParts {
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

  package static func scheme(_ url: String) -> String? {
    guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
    return url[..<colon].lowercased()
  }

  package static func isWeb(_ url: String) -> Bool {
    guard let scheme = scheme(url), host(url) != nil else { return false }
    return scheme == "http" || scheme == "https"
  }

  /// Userinfo, host and port.
  package static func authority(of url: String) -> Substring? {
    guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
    return url[url.index(colon, offsetBy: 3)...].prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
  }

  package static func userinfo(_ url: String) -> Substring? {
    guard let authority = authority(of: url), let at = authority.lastIndex(of: "@") else { return nil }
    return authority[..<at]
  }
}
