/// A request that an origin has had.
package struct OriginRequest: Sendable {
  package var path: String
  /// Path and query as they were sent.
  package var target: String
  package var headers: [(name: String, value: String)]
  /// The answer's status; nil while or where there was none.
  package var status: Int?
  /// Bytes of the body that were sent.
  package var sent: Int64 = 0

  package func header(_ name: String) -> String? { headers.last { $0.name == name }?.value }
  package var range: String? { header("range") }
}

/// What an origin has had to do.
struct OriginLog {
  var requests: [OriginRequest] = []
  var active = 0
  var peak = 0

  mutating func begin(_ request: OriginRequest) -> Int {
    requests.append(request)
    active += 1
    peak = max(peak, active)
    return requests.count - 1
  }
}
