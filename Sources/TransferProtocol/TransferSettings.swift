/// The options that concern the daemon (Documentation/Configuration.md), as the latest mount has them.
package struct TransferSettings: Hashable, Sendable {
  package var downloads: Int64 = 3
  package var perHost: Int64 = 2
  /// Bytes per second for all background downloads together.
  package var limitRate: Int64?
  /// Bytes.
  package var cacheSize: Int64 = 10 << 30
  package var minimumFree: Int64 = 1 << 30
  /// Milliseconds.
  package var stallTimeout: Int64 = 30_000
  package var connectTimeout: Int64 = 15_000
  package var proxy: String?
  /// The proxy variables of the mount's environment; nil for the daemon's own.
  package var proxyVariables: [String: String]?
  package var userAgent: String?
  package var certificateAuthorities: String?

  package init() {}
}

extension TransferSettings {
  package func encode(into writer: inout FrameWriter) {
    for number in [downloads, perHost, cacheSize, minimumFree, stallTimeout, connectTimeout] {
      writer.put(number)
    }
    writer.put(limitRate)
    for text in [proxy, userAgent, certificateAuthorities] { writer.put(text) }
    writer.put(proxyVariables)
  }

  package init(from reader: inout FrameReader) throws(FrameError) {
    downloads = try reader.int64()
    perHost = try reader.int64()
    cacheSize = try reader.int64()
    minimumFree = try reader.int64()
    stallTimeout = try reader.int64()
    connectTimeout = try reader.int64()
    limitRate = try reader.optionalInt64()
    proxy = try reader.optionalString()
    userAgent = try reader.optionalString()
    certificateAuthorities = try reader.optionalString()
    proxyVariables = try reader.optionalTexts()
  }

  /// As the store keeps them.
  package var stored: [UInt8] {
    var writer = FrameWriter()
    encode(into: &writer)
    return Array(writer.frame.dropFirst(4))
  }

  /// - Returns: nil where `stored` is of another version.
  package init?(stored: [UInt8]) {
    var reader = FrameReader(stored[...])
    guard let settings = try? TransferSettings(from: &reader) else { return nil }
    self = settings
  }
}
