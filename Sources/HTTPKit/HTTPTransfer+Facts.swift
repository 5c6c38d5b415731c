internal import CCurl
internal import WebValues

// What libcurl knows of a transfer.
extension HTTPTransfer {
  /// The address that is being asked, after the redirects so far.
  var effectiveURL: String {
    var pointer: UnsafeMutablePointer<CChar>?
    podcastfs_curl_get_string(easy, CURLINFO_EFFECTIVE_URL, &pointer)
    return pointer.map { String(cString: $0) } ?? request.url
  }

  /// The host that is being asked, as people read it: all that messages say of an address.
  var host: String { asked.host ?? "the server" }

  /// The address connected to.
  var connectedAddress: HostAddress? {
    var pointer: UnsafeMutablePointer<CChar>?
    podcastfs_curl_get_string(easy, CURLINFO_PRIMARY_IP, &pointer)
    return pointer.flatMap { HostAddress(String(cString: $0)) }
  }

  func number(_ info: CURLINFO) -> Int {
    var value = 0
    podcastfs_curl_get_long(easy, info, &value)
    return value
  }

  /// Where a redirect leads (RFC 9110 §10.2.2).
  static func resolve(_ location: String, base: String) -> String {
    guard let text = podcastfs_curl_resolve(base, location) else { return location }
    defer { podcastfs_curl_free(text) }
    return String(cString: text)
  }
}
