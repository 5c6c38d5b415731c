internal import CCurl
internal import WebValues

extension HTTPTransfer {
  /// The address that is being asked, after the redirects so far.
  var effectiveURL: String {
    var pointer: UnsafeMutablePointer<CChar>?
    podcastfs_curl_get_string(easy, CURLINFO_EFFECTIVE_URL, &pointer)
    return pointer.map { String(cString: $0) } ?? request.url
  }

  /// The host that is being asked, as people read it: all that messages say of an address.
  var host: String { asked.address.host ?? "the server" }

  var connectedAddress: HostAddress? {
    var pointer: UnsafeMutablePointer<CChar>?
    podcastfs_curl_get_string(easy, CURLINFO_PRIMARY_IP, &pointer)
    return pointer.flatMap { HostAddress(String(cString: $0)) }
  }

  /// The fields of the last response's head, names in lower case, folded lines as one (curl_easy_nextheader(3)).
  var fields: [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    var last: UnsafeMutablePointer<curl_header>?
    while let field = podcastfs_curl_easy_nextheader(easy, UInt32(CURLH_HEADER), -1, last) {
      fields.append(
        (String(cString: field.pointee.name).lowercased(), String(cString: field.pointee.value)))
      last = field
    }
    return fields
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
