/// The words for a status that a web server answers with (RFC 9110 section 15).
package enum HTTPStatus {
  /// "HTTP 404 (not found) from media.example".
  package static func text(_ status: Int, from host: String) -> String {
    let words = words[status] ?? ((500...599).contains(status) ? "server error" : nil)
    return "HTTP \(status)\(words.map { " (\($0))" } ?? "") from \(host)"
  }

  private static let words = [
    401: "needs a user name and password", 403: "refused", 404: "not found", 410: "gone",
    407: "the proxy needs a password", 429: "asked too often", 451: "refused for legal reasons",
  ]
}
