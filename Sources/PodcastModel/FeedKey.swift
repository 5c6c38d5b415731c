/// When two addresses mean the same feed.
package enum FeedKey {
  /// Equal for addresses that mean the same feed: neither the scheme nor the case or spelling of the host, the scheme's
  /// own port, a slash at the end, a fragment, the spelling of user and password or the case of percent-encodings makes
  /// a difference.
  package static func text(_ address: WebAddress) -> String {
    let whole = address.forRequest.prefix { $0 != "#" }
    guard let colon = whole.firstIndex(of: ":"), whole[colon...].hasPrefix("://") else {
      return String(whole)
    }
    let start = whole.index(colon, offsetBy: 3)
    let end = whole[start...].firstIndex { $0 == "/" || $0 == "?" } ?? whole.endIndex
    var authority = whole[start..<end]
    var user = ""
    if let at = authority.lastIndex(of: "@") {
      user = PercentEncoding.userinfo(authority[..<at]) + "@"
      authority = authority[authority.index(after: at)...]
    }
    var host = InternationalHost.ascii(authority)
    for port in [":80", ":443", ":"] where host.hasSuffix(port) { host.removeLast(port.count) }
    if host.hasSuffix(".") { host.removeLast() }
    var path = whole[end...]
    var query: Substring = ""
    if let mark = path.firstIndex(of: "?") {
      query = path[mark...]
      path = path[..<mark]
    }
    while path.last == "/" { path.removeLast() }
    if query == "?" { query = "" }
    return user + host + upperCasingEscapes(String(path + query))
  }

  private static func upperCasingEscapes(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var bytes = Array(text.utf8)
    for index in bytes.indices.dropLast(2) where bytes[index] == UInt8(ascii: "%") {
      for digit in [index + 1, index + 2] where (97...102).contains(bytes[digit]) { bytes[digit] -= 32 }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
