/// Decompresses a body as it comes, by what its bytes say. Servers name a compression that they have not used, name
/// none for a file that is compressed, compress twice, and send bytes behind the end.
final class BodyDecoder {
  private enum State { case beginning, plain, inflating(Inflater), damaged }

  private var state = State.beginning
  /// Layers of compression that may still be undone.
  private let layers: Int
  private let mayBeDeflate: Bool
  /// What decodes that which this one has decompressed.
  private lazy var next = BodyDecoder(layers: layers - 1, mayBeDeflate: false)
  private var hasGiven = false

  /// - Parameter coding: the body's Content-Encoding, where there is one (RFC 9110 §8.4).
  convenience init(coding: String?) {
    self.init(layers: 3, mayBeDeflate: coding?.contains("deflate") ?? false)
  }

  private init(layers: Int, mayBeDeflate: Bool) {
    self.layers = layers
    self.mayBeDeflate = mayBeDeflate
  }

  /// Hands on what the next bytes mean.
  /// - Throws: `FeedError.damagedCompression` where nothing of the body can be read; what `body` throws.
  func decode(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(FeedError) -> Void
  ) throws(FeedError) {
    guard let first = bytes.first else { return }
    if case .beginning = state {
      state = format(first).flatMap { Inflater($0) }.map { .inflating($0) } ?? .plain
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

  /// By the first byte: 0x1F begins gzip, and no document.
  private func format(_ first: UInt8) -> Inflater.Format? {
    switch first {
    case 0x1F where layers > 0: .gzip
    // Deflate within zlib, as the name means, and bare, as many send it.
    case 0x78 where mayBeDeflate: .zlib
    case 0x3C, 0xEF, 0xFE, 0xFF, 0...0x20: nil
    default: mayBeDeflate ? Inflater.Format.none : nil
    }
  }
}
