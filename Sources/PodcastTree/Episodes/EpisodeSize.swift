package import PodcastModel
internal import TransferProtocol

/// An episode's size, and how well it is known: the attribute `user.podcastfs.size_source`.
package struct EpisodeSize: Hashable, Sendable {
  package enum Source: String, Sendable { case exact, feed, estimate }
  /// In bytes, never 0 unless exact.
  package var bytes: Int64
  package var source: Source

  /// No episode is longer: 32 GiB.
  static let limit: Int64 = 32 << 30

  init(_ episode: ListedEpisode, _ status: TransferStatus?) {
    let received = status?.received ?? 0
    if let total = status?.total {
      self.init(bytes: total, source: .exact)
    } else if let length = episode.feedLength, length >= received {
      self.init(bytes: length, source: .feed)
    } else {
      self.init(bytes: max(episode.estimate, received), source: .estimate)
    }
  }

  /// What st_size is where the server gives no length: rather too much than too little, because programs that
  /// read just so many bytes (tar, rsync) would cut the rest off without a word, where they do complain of a file
  /// that ends before.
  package var whileUnknown: Int64 { source == .exact ? bytes : bytes * 2 + 16 << 20 }

  private init(bytes: Int64, source: Source) {
    self.bytes = bytes
    self.source = source
  }

  /// Feeds give 0, seconds and absurd numbers for lengths: bytes they are between 128 bit/s and 200 Mbit/s
  /// for the duration, and where that is not known more than any episode has seconds.
  static func isPlausible(_ length: Int64, of episode: Episode) -> Bool {
    guard length < 1 << 40 else { return false }
    guard let duration = episode.duration, (1...1_000_000_000).contains(duration) else {
      return length >= 16_384
    }
    return length > Int64(duration) * 16 && length / 25_000_000 <= Int64(duration)
  }

  /// The feed's length, where it may be one; nil where the feed has none.
  package static func plausibleLength(of episode: Episode) -> Int64? {
    episode.feedLength.flatMap { isPlausible($0, of: episode) ? $0 : nil }
  }

  /// What such a thing usually takes: 128 kbit/s of sound, 1 Mbit/s of pictures, half an hour where the feed
  /// gives no duration.
  static func estimate(of episode: Episode) -> Int64 {
    let seconds = Int64(episode.duration.flatMap { (1...360_000).contains($0) ? $0 : nil } ?? 1800)
    let isVideo = episode.mediaType?.hasPrefix("video/") ?? false
    return seconds * (isVideo ? 125_000 : 16_000)
  }
}
