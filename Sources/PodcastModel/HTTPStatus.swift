/// The words for a status that a web server answers with (RFC 9110 section 15).
package enum HTTPStatus {
  /// "HTTP 404 (not found) from media.example".
  package static func text(_ status: Int, from host: String) -> String {
    "HTTP \(status)\(words(status).map { " (\($0))" } ?? "") from \(host)"
  }

  private static func words(_ status: Int) -> String? {
    switch status {
    case 401: "needs a user name and password"
    case 403: "refused"
    case 404: "not found"
    case 407: "the proxy needs a password"
    case 410: "gone"
    case 429: "asked too often"
    case 451: "refused for legal reasons"
    case 500...599: "server error"
    default: nil
    }
  }
}
