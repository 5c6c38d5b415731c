/// How much is taken of one feed: what a hostile one can cost.
package struct FeedLimits: Hashable, Sendable {
  /// Bytes of the document, after decompression.
  package var document = 64 << 20
  /// Bytes of show notes or a description; longer ones are cut.
  package var text = 1 << 20
  /// Bytes of any other text (titles, guids, names); longer ones are cut.
  package var line = 65_536
  package var episodes = 100_000

  package init() {}

  /// Bytes that texts and addresses may have together, so that a document becomes no multiple of what it is.
  func output(ofDocument bytes: Int) -> Int { bytes * 3 + (1 << 20) }
}
