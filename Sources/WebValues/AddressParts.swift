/// The parts of an address (RFC 3986 §3), read as leniently as they come. Each is a slice of the address.
package struct AddressParts {
  package let scheme: String
  package let authority: Substring
  /// What stands before the "@" of the authority; nil where it has none.
  package let userinfo: Substring?
  package let place: Substring
  package let target: Substring
  package let path: Substring
  package let query: Substring?
  /// With its "#"; empty where there is none.
  package let fragment: Substring

  /// - Returns: nil for what does not begin with a scheme and `://`.
  package init?(_ address: String) {
    guard let colon = address.firstIndex(of: ":"), address[colon...].hasPrefix("://") else { return nil }
    scheme = address[..<colon].lowercased()
    let rest = address[address.index(colon, offsetBy: 3)...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
    self.authority = authority
    let at = authority.lastIndex(of: "@")
    userinfo = at.map { authority[..<$0] }
    place = at.map { authority[authority.index(after: $0)...] } ?? authority
    target = rest[authority.endIndex...]
    let whole = target.prefix { $0 != "#" }
    fragment = target[whole.endIndex...]
    path = whole.prefix { $0 != "?" }
    query = path.endIndex < whole.endIndex ? whole[whole.index(after: path.endIndex)...] : nil
  }

  /// In lower case, an IPv6 address without its brackets; nil where it is empty.
  package var host: String? {
    if place.first == "[" {
      guard let end = place.firstIndex(of: "]") else { return nil }
      return place[..<end].dropFirst().lowercased()
    }
    let host = place.prefix { $0 != ":" }
    return host.isEmpty ? nil : host.lowercased()
  }

  package var port: String {
    let behindHost = place.lastIndex(of: "]").map { place[$0...] } ?? place
    let port = behindHost.lastIndex(of: ":").map { behindHost[behindHost.index(after: $0)...] } ?? ""
    return port.isEmpty ? scheme == "https" ? "443" : "80" : String(port)
  }

  package var isWeb: Bool { (scheme == "http" || scheme == "https") && host != nil }

  /// The host as DNS knows it.
  package var asciiHost: String? { host.map { InternationalHost.ascii($0) } }

  /// Scheme, host and port (RFC 6454 §4), equal for all spellings of them.
  package var origin: String { "\(scheme)://\(asciiHost ?? ""):\(port)" }
  package func hasOrigin(of other: AddressParts) -> Bool { origin == other.origin }
}
