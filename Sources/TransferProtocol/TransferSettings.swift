package import PodcastModel
package import PosixKit

/// The options that concern the daemon (Documentation/Configuration.md), as the latest mount has them.
package struct TransferSettings: Hashable, Sendable {
  package var downloads: Int64 = 3
  package var perHost: Int64 = 2
  /// Bytes per second for all background downloads together.
  package var limitRate: Int64?
  /// The user lets all background downloads rest.
  package var isPaused = false
  /// When background downloads rest: on metered networks; on battery below a charge in percent (101 for any, 0 for
  /// never); outside these hours of the day.
  package var restsOnMetered = true
  package var restsBelowCharge: Int64 = 0
  package var hours: DailyHours?
  /// Bytes.
  package var cacheSize: Int64 = 10 << 30
  package var minimumFree: Int64 = 1 << 30
  /// Milliseconds.
  package var stallTimeout: Int64 = 30_000
  package var connectTimeout: Int64 = 15_000
  package var readTimeout: Int64 = 60_000
  package var proxy: String?
  /// The proxy variables of the mount's environment; nil for the daemon's own.
  package var proxyVariables: [String: String]?
  package var userAgent: String?
  package var certificateAuthorities: String?
  /// What is in the queue of its user and so is never evicted; nil for what was said last.
  package var queued: [MediaKey]?

  package init() {}
}

extension TransferSettings: FieldCoded {
  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&downloads, &perHost, &cacheSize)
    try fields.code(&minimumFree, &stallTimeout, &connectTimeout)
    try fields.code(&readTimeout, &limitRate, &isPaused)
    var times = hours.map { [$0.start, $0.end] }
    try fields.code(&restsOnMetered, &restsBelowCharge, &times)
    hours = times.flatMap { $0.count == 2 ? DailyHours(start: $0[0], end: $0[1]) : nil }
    try fields.code(&proxy, &userAgent, &certificateAuthorities)
    var variables = proxyVariables?.sorted { $0.key < $1.key }.map { [$0.key, $0.value] }
    try fields.code(&variables)
    proxyVariables = variables.map {
      Dictionary($0.filter { $0.count == 2 }.map { ($0[0], $0[1]) }, uniquingKeysWith: { _, last in last })
    }
    try fields.code(&queued)
  }
}
