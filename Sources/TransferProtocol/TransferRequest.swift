package import PodcastModel

/// The facts of a download, as whoever wants it knows them; the daemon keeps them in its store, so that it
/// finds them again after a restart without asking anybody.
package struct TransferRequest: Hashable, Sendable {
  package var key: MediaKey
  /// The enclosure's address, http or https.
  package var url: String
  /// The feed's media type and length, hints only.
  package var mediaType: String?
  package var expectedLength: Int64?
  /// For people: the episode's title and its podcast's, and the name in the mount.
  package var title: String
  package var show: String
  package var fileName: String
  /// Whether the address may lead to a private, loopback or link-local host: only where the feed that
  /// named it is itself on such a host (Documentation/Security.md).
  package var allowsPrivateHosts: Bool
  /// The feed's own user agent, where the configuration sets one.
  package var userAgent: String?
  /// Whether it is an episode. Another file does not count in `cache_size`, is not evicted, and mounts do not show it.
  package var isEpisode: Bool

  package init(
    key: MediaKey, url: String = "", mediaType: String? = nil, expectedLength: Int64? = nil,
    title: String = "", show: String = "", fileName: String = "", allowsPrivateHosts: Bool = false,
    userAgent: String? = nil, isEpisode: Bool = true
  ) {
    self.key = key
    self.url = url
    self.mediaType = mediaType
    self.expectedLength = expectedLength
    self.title = title
    self.show = show
    self.fileName = fileName
    self.allowsPrivateHosts = allowsPrivateHosts
    self.userAgent = userAgent
    self.isEpisode = isEpisode
  }
}

extension TransferRequest: BinaryValue {
  package func encode(into bytes: inout [UInt8]) {
    bytes.put(key, url, mediaType, expectedLength, title, show, fileName, allowsPrivateHosts, userAgent)
    bytes.put(isEpisode)
  }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    self = try reader.make(
      Self.init(key:url:mediaType:expectedLength:title:show:fileName:allowsPrivateHosts:userAgent:isEpisode:))
    // A feed may say anything.
    expectedLength = expectedLength.flatMap { (0...1 << 50).contains($0) ? $0 : nil }
  }
}
