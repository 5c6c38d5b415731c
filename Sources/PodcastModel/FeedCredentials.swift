/// The name and password in a private feed's address (userinfo, RFC 3986 §3.2.1): its host asks for them at
/// what the feed names as well, and no other host is told them.
package enum FeedCredentials {
  /// `url` with the credentials of `feed`, where it has none itself and is of the same host and port.
  ///
  /// From https never to http, which would show them on the way; from http to https on their usual ports.
  package static func lent(by feed: WebAddress, to address: WebAddress) -> WebAddress {
    let url = address.forRequest
    guard let secret = AddressParts.userinfo(feed.forRequest), AddressParts.userinfo(url) == nil,
      let mine = Origin(feed.forRequest), let its = Origin(url), mine.admits(its),
      let start = url.firstIndex(of: ":")
    else { return address }
    let authority = url.index(start, offsetBy: 3)
    return WebAddress(url[..<authority] + secret + "@" + url[authority...])
  }

  /// Scheme, host and port (RFC 6454 §4).
  private struct Origin {
    let scheme: String
    let host: String
    let port: String

    init?(_ url: String) {
      guard let scheme = AddressParts.scheme(url), let host = AddressParts.host(url),
        let authority = AddressParts.authority(of: url)
      else { return nil }
      let usual = scheme == "https" ? "443" : "80"
      let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
      let behindHost = place.lastIndex(of: "]").map { place[$0...] } ?? place
      let port = behindHost.lastIndex(of: ":").map { String(behindHost[behindHost.index(after: $0)...]) }
      self.scheme = scheme
      self.host = InternationalHost.ascii(host)
      self.port = port.map { $0.isEmpty ? usual : $0 } ?? usual
    }

    func admits(_ other: Origin) -> Bool {
      guard host == other.host else { return false }
      if scheme == other.scheme { return port == other.port }
      return scheme == "http" && port == "80" && other.scheme == "https" && other.port == "443"
    }
  }
}
