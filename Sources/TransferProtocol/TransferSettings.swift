internal import Glibc
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
  /// When background downloads rest: below a charge in percent (101 for any, 0 for never), outside these hours.
  package var restsOnMetered = true
  package var restsBelowCharge: Int64 = 0
  package var hours: DailyHours?
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

/// What the user has said of all background downloads, until the last of his mounts is unmounted.
package struct Steering: Hashable, Sendable {
  /// Bytes per second, 0 for no bound; nil for what the options say.
  package var limitRate: Int64?
  package var isPaused = false

  package init() {}

  private static func file(runtime: String) -> String { runtime + "/steering" }

  /// All mounts of the user share it.
  package init(runtime: String) {
    let bytes = (try? Directories.readRegular(Self.file(runtime: runtime), limit: 256)) ?? []
    self = (try? Steering(decoding: bytes[...])) ?? Steering()
  }

  package func store(runtime: String) throws {
    if self == Steering() {
      unlink(Self.file(runtime: runtime))
      return
    }
    try Directories.replace(Self.file(runtime: runtime), with: encoded, outlivesPower: false)
  }

  package func applied(to settings: TransferSettings) -> TransferSettings {
    var settings = settings
    if let limitRate { settings.limitRate = limitRate == 0 ? nil : limitRate }
    settings.isPaused = isPaused
    return settings
  }
}

extension Steering: FieldCoded {
  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&limitRate)
    try fields.code(&isPaused)
  }
}
