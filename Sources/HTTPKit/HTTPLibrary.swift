internal import CCurl
internal import PosixKit

/// The library that requests are made with: loaded with the first one.
package enum HTTPLibrary {
  /// Loads it on a thread of its own, which takes some hundredths of a second: for who will make requests soon.
  package static func loadBehind() {
    _ = PosixThread.attempt("libcurl") { _ = podcastfs_curl_load() }
  }

  /// - Throws: where it is not here, or too old.
  package static func load() throws(HTTPError) {
    if let reason = podcastfs_curl_load() {
      throw HTTPError(.other, "cannot load libcurl: \(String(cString: reason))", .EIO)
    }
  }
}
