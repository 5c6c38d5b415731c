internal import WebValues

/// A request that the server has read (RFC 9112 §3).
package struct ServerRequest: Sendable {
  /// GET, HEAD, or POST where the server takes bodies: it answers all others itself.
  package var method: String
  /// The target as it was sent: path and query.
  package var target: String
  /// In the order received, names in lower case.
  package var headers: [(name: String, value: String)]
  /// Whether the client speaks HTTP/1.1: it understands chunks and keeps connections.
  package var isHTTP11: Bool
  /// What a POST request carries.
  package var body: [UInt8] = []

  /// The value of the last header of that lower-case name.
  package func header(_ name: String) -> String? { headers.last { $0.name == name }?.value }

  /// The path, percent-decoded.
  package var path: String { Self.decoded(target.prefix { $0 != "?" }, plusIsBlank: false) }

  /// The query's fields in their order, decoded as forms encode them.
  package var query: [(name: String, value: String)] {
    guard let mark = target.firstIndex(of: "?") else { return [] }
    return target[target.index(after: mark)...].split(separator: "&").map { field in
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? parts[1] : ""
      return (Self.decoded(parts[0], plusIsBlank: true), Self.decoded(value, plusIsBlank: true))
    }
  }

  /// The query's last field of that name.
  package func query(_ name: String) -> String? { query.last { $0.name == name }?.value }

  private static func decoded(_ text: Substring, plusIsBlank: Bool) -> String {
    let bytes = text.utf8.map { plusIsBlank && $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    return String(decoding: PercentEncoding.decode(bytes), as: UTF8.self)
  }
}
