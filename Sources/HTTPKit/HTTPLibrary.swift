internal import CCurl
internal import PosixKit

/// The library that requests are made with: loaded with the first one.
package struct HTTPLibrary {
  /// "7.88.1".
  package let version: String
  package let hasTLS: Bool
  package let hasHTTP2: Bool

  /// - Throws: where it is not here, or too old.
  package init() throws(HTTPError) {
    try Self.load()
    // The first form of the structure has all that is read here.
    let information = podcastfs_curl_version_info(CURLVERSION_FIRST).pointee
    version = String(cString: information.version)
    hasTLS = information.features & CURL_VERSION_SSL != 0
    hasHTTP2 = information.features & CURL_VERSION_HTTP2 != 0
  }

  /// Loads it on a thread of its own, which takes some hundredths of a second: for who will make requests soon.
  package static func loadBehind() {
    _ = PosixThread.attempt("libcurl") { _ = podcastfs_curl_load() }
  }

  static func load() throws(HTTPError) {
    if let reason = podcastfs_curl_load() {
      throw HTTPError(.other, "cannot load libcurl: \(String(cString: reason))", .EIO)
    }
  }
}
