package import PodcastModel

/// The facts of a download, as whoever wants it knows them, and as the daemon's store keeps them.
package struct TransferRequest: Hashable, Sendable {
  package var key: MediaKey
  package var url: String
  /// The feed's length in bytes, a hint only.
  package var expectedLength: Int64?
  /// For people: the episode's title and its podcast's, and the name in the mount.
  package var title: String
  package var show: String
  package var fileName: String
  /// Whether the address may lead to a private host: only where the feed that named it is on such a host.
  package var allowsPrivateHosts: Bool
  /// The feed's own user agent, where the configuration sets one.
  package var userAgent: String?
  /// Whether it is an episode. Another file does not count in `cache_size`, is not evicted, and mounts do not show it.
  package var isEpisode: Bool

  package init(
    key: MediaKey, url: String = "", expectedLength: Int64? = nil,
    title: String = "", show: String = "", fileName: String = "", allowsPrivateHosts: Bool = false,
    userAgent: String? = nil, isEpisode: Bool = true
  ) {
    (self.key, self.url, self.expectedLength) = (key, url, expectedLength)
    (self.title, self.show, self.fileName) = (title, show, fileName)
    (self.allowsPrivateHosts, self.userAgent, self.isEpisode) = (allowsPrivateHosts, userAgent, isEpisode)
  }
}

extension TransferRequest: FieldCoded {
  package init() { self.init(key: MediaKey(address: "")) }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&key, &url, &expectedLength)
    try fields.code(&title, &show, &fileName)
    try fields.code(&allowsPrivateHosts, &userAgent, &isEpisode)
    // A feed may say anything.
    expectedLength = expectedLength.flatMap { (0...1 << 50).contains($0) ? $0 : nil }
  }
}
