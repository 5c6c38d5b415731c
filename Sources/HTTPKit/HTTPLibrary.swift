internal import CCurl
internal import PosixKit

/// libcurl, which requests are made with: loaded with the first one.
package enum HTTPLibrary {
  package static func version() throws(HTTPError) -> String {
    try load()
    return String(cString: podcastfs_curl_version_info(CURLVERSION_FIRST).pointee.version)
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
