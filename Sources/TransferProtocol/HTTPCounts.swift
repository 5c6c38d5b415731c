package import PodcastModel

/// What came of the daemon's requests since it began.
package struct HTTPCounts: Hashable, Sendable {
  package var requests: Int64 = 0
  package var received: Int64 = 0
  /// How many answers had a status from 400 to 499, and how many 500 or above.
  package var clientErrors: Int64 = 0
  package var serverErrors: Int64 = 0
  /// Requests without an answer, or with one that was cut off.
  package var networkErrors: Int64 = 0

  package init() {}

  package mutating func note(status: Int) {
    if (400..<500).contains(status) { clientErrors += 1 }
    if status >= 500 { serverErrors += 1 }
  }

  package var families: [MetricFamily] {
    var requests = MetricFamily("podcastfs_http_requests", .counter, "Requests of transferd for episodes.")
    requests.add(self.requests)
    var bytes = MetricFamily(
      "podcastfs_http_received_bytes", .counter, unit: "bytes",
      "Bytes that transferd has received of episodes.")
    bytes.add(received)
    var errors = MetricFamily(
      "podcastfs_http_errors", .counter, "Requests of transferd that failed, by class.")
    for (kind, count) in [("4xx", clientErrors), ("5xx", serverErrors), ("network", networkErrors)] {
      errors.add(count, ["class": kind])
    }
    return [requests, bytes, errors]
  }
}

extension HTTPCounts: FieldCoded {
  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&requests, &received, &clientErrors)
    try fields.code(&serverErrors)
    try fields.code(&networkErrors)
  }
}
