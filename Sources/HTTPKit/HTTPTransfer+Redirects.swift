internal import CCurl
internal import PosixKit
internal import WebValues

// A response that leads elsewhere (RFC 9110 §15.4). libcurl would first take all of its body, however long that is.
extension HTTPTransfer {
  /// Bytes of a redirect's body that are taken, so that its connection can be used again.
  private static let ignoredBody = 64 * 1024

  /// The head that has come leads to `location`. Answers whether to go on.
  func lead(to location: String) -> Bool {
    // Leave to reach private hosts ends with the first public one.
    if asked.proxy == nil, connectedAddress?.isPrivate == false { hasMetPublicHost = true }
    let next = Self.resolve(location, base: effectiveURL)
    head.redirects.append((head.status, next))
    if head.redirects.count > request.maximumRedirects {
      let message = "more than \(request.maximumRedirects) redirects, at \(host)"
      return refuse(HTTPError(.tooManyRedirects, message, .EIO))
    }
    redirect = (next, 0)
    return true
  }

  func ignore(_ count: Int) -> HTTPFlow {
    redirect?.ignored += count
    return redirect?.ignored ?? 0 > Self.ignoredBody ? .abort : .proceed
  }

  /// Asks where the response has led, however its body has ended; to be given to libcurl again.
  /// - Returns: false where it led nowhere.
  func follow(after ending: Ending) -> Bool {
    if case .cancelled = ending { return false }
    guard verdict == nil, !isOverdue, let next = redirect?.next else { return false }
    redirect = nil
    (head.status, head.headers) = (0, [])
    hasRefused = false
    waitingSince = nil
    words[0] = 0
    let own = AddressParts(request.url.trimmed)
    let isOwn = own.flatMap { AddressParts(next)?.hasOrigin(of: $0) } ?? false
    setURL(isOwn ? withCredentials(next) : next)
    setHeaders(leaves: !isOwn)
    setTimeLeft()
    return true
  }

  private var isOverdue: Bool {
    request.totalTimeout.map { MonotonicTime.now.seconds(since: began) >= $0 } ?? false
  }

  /// Those of the request's address go on to the same host, and to no other.
  private func withCredentials(_ url: String) -> String {
    guard let credentials = AddressParts(request.url.trimmed)?.userinfo, let parts = AddressParts(url),
      parts.userinfo == nil
    else { return url }
    let start = parts.authority.startIndex
    return "\(url[..<start])\(credentials)@\(url[start...])"
  }

  /// Where a redirect leads (RFC 9110 §10.2.2).
  private static func resolve(_ location: String, base: String) -> String {
    guard let text = podcastfs_curl_resolve(base, location) else { return location }
    defer { podcastfs_curl_free(text) }
    return String(cString: text)
  }
}
