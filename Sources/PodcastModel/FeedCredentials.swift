/// The name and password in a private feed's address (userinfo, RFC 3986 §3.2.1). Its host asks for them for the
/// episodes too; no other host gets them.
package enum FeedCredentials {
  /// `url` with the credentials of `feed`, where it has none itself and is of the same host and port.
  ///
  /// From https never to http, which would show them on the way; from http to https on their usual ports.
  package static func lent(by feed: WebAddress, to address: WebAddress) -> WebAddress {
    guard let mine = feed.parts, let secret = mine.userinfo, let its = address.parts, its.userinfo == nil,
      mine.hasOrigin(of: its) || isUsualUpgrade(mine, its)
    else { return address }
    let url = address.forRequest
    return WebAddress(url[..<its.authority.startIndex] + secret + "@" + url[its.authority.startIndex...])
  }

  private static func isUsualUpgrade(_ mine: AddressParts, _ its: AddressParts) -> Bool {
    mine.asciiHost == its.asciiHost && mine.scheme == "http" && mine.port == "80" && its.scheme == "https"
      && its.port == "443"
  }
}
