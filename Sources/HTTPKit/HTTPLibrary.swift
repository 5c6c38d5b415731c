internal import CCurl

/// The library that requests are made with.
package enum HTTPLibrary {
  /// "7.88.1".
  package static var version: String { String(cString: information.pointee.version) }

  /// Whether it can do https.
  package static var hasTLS: Bool { information.pointee.features & CURL_VERSION_SSL != 0 }

  /// Whether it can do HTTP/2.
  package static var hasHTTP2: Bool { information.pointee.features & CURL_VERSION_HTTP2 != 0 }

  private static var information: UnsafeMutablePointer<curl_version_info_data> {
    // The first form of the structure has all that is read here.
    curl_version_info(CURLVERSION_FIRST)
  }
}
