/// When two addresses mean the same feed.
package enum FeedKey {
  /// Equal for addresses that mean the same feed: neither the scheme nor the case or spelling of the host, the scheme's
  /// own port, a slash at the end, a fragment, the spelling of user and password or the case of percent-encodings makes
  /// a difference.
  package static func text(_ address: WebAddress) -> String {
    guard let parts = address.parts else { return String(address.forRequest.prefix { $0 != "#" }) }
    var host = InternationalHost.ascii(parts.place)
    for port in [":80", ":443", ":"] where host.hasSuffix(port) { host.removeLast(port.count) }
    if host.hasSuffix(".") { host.removeLast() }
    var path = parts.path
    while path.last == "/" { path.removeLast() }
    let user = parts.userinfo.map { PercentEncoding.userinfo($0) + "@" } ?? ""
    let query = parts.query.flatMap { $0.isEmpty ? nil : "?" + $0 } ?? ""
    return user + host + upperCasingEscapes(path + query)
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
