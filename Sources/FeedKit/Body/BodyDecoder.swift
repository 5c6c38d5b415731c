/// Decompresses a body as it comes, by what its bytes say. Servers name a compression that they have not used, name
/// none for a file that is compressed, compress twice, and send bytes behind the end.
final class BodyDecoder {
  private enum State { case beginning, plain, inflating(Inflater), damaged }

  private var state = State.beginning
  /// Layers of compression that may still be undone.
  private let layers: Int
  /// What decodes that which this one has decompressed.
  private lazy var next = BodyDecoder(layers: layers - 1)
  private var hasGiven = false

  init(layers: Int = 3) { self.layers = layers }

  /// Hands on what the next bytes mean.
  /// - Throws: `FeedError.damagedCompression` where nothing of the body can be read; what `body` throws.
  func decode(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(FeedError) -> Void
  ) throws(FeedError) {
    guard let first = bytes.first else { return }
    if case .beginning = state {
      // This byte begins gzip, and no document.
      state = first == 0x1F && layers > 0 ? Inflater().map { .inflating($0) } ?? .plain : .plain
    }
    switch state {
    case .plain: try body(bytes)
    case .inflating(let inflater):
      let isSound = try inflater.inflate(bytes) { piece throws(FeedError) in
        hasGiven = true
        try next.decode(piece, body)
      }
      if isSound { return }
      if !hasGiven { throw .damagedCompression }
      state = .damaged
    case .beginning, .damaged: break
    }
  }
}
