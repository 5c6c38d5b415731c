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
    guard let colon = address.utf8.firstIndex(of: UInt8(ascii: ":")),
      address.utf8[colon...].starts(with: "://".utf8)
    else { return nil }
    scheme = address[..<colon].lowercased()
    let rest = address[address.utf8.index(colon, offsetBy: 3)...]
    let authority = Self.part(of: rest, before: "/?#\\")
    self.authority = authority
    let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
    userinfo = at.map { authority[..<$0] }
    place = at.map { authority[authority.utf8.index(after: $0)...] } ?? authority
    target = rest[authority.endIndex...]
    let whole = Self.part(of: target, before: "#")
    fragment = target[whole.endIndex...]
    path = Self.part(of: whole, before: "?")
    query = path.endIndex < whole.endIndex ? whole[whole.utf8.index(after: path.endIndex)...] : nil
  }

  /// What stands before the first delimiter. Compares bytes, as hosts do: Swift would take a slash and a combining mark
  /// behind it for another character.
  private static func part(of text: Substring, before delimiters: StaticString) -> Substring {
    let delimiters = UnsafeBufferPointer(start: delimiters.utf8Start, count: delimiters.utf8CodeUnitCount)
    return Substring(text.utf8.prefix { !delimiters.contains($0) })
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
