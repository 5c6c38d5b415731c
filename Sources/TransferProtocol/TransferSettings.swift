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

extension TransferSettings: BinaryValue {
  package func encode(into bytes: inout [UInt8]) {
    bytes.put(downloads, perHost, cacheSize, minimumFree, stallTimeout, connectTimeout, limitRate)
    bytes.put(readTimeout, isPaused)
    bytes.put(restsOnMetered, restsBelowCharge, hours.map { Int64($0.start) }, hours.map { Int64($0.end) })
    bytes.put(proxy, userAgent, certificateAuthorities)
    bytes.put(proxyVariables?.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }, queued)
  }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    (downloads, perHost, cacheSize) = (try reader.next(), try reader.next(), try reader.next())
    (minimumFree, stallTimeout, connectTimeout) = (try reader.next(), try reader.next(), try reader.next())
    (limitRate, readTimeout, isPaused) = (try reader.next(), try reader.next(), try reader.next())
    (restsOnMetered, restsBelowCharge) = (try reader.next(), try reader.next())
    let (start, end): (Int64?, Int64?) = (try reader.next(), try reader.next())
    if let start, let end { hours = DailyHours(start: Int(clamping: start), end: Int(clamping: end)) }
    (proxy, userAgent, certificateAuthorities) = (try reader.next(), try reader.next(), try reader.next())
    let variables: [String]? = try reader.next()
    proxyVariables = variables.map { names in
      let pairs = stride(from: 0, to: names.count - 1, by: 2).map { (names[$0], names[$0 + 1]) }
      return Dictionary(pairs, uniquingKeysWith: { _, last in last })
    }
    queued = try reader.next()
  }
}
