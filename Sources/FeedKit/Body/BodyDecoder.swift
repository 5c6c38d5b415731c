internal import CZlib

/// Decompresses a body as it comes, by what its bytes say. Servers name a compression that they have not used, name
/// none for a file that is compressed, compress twice, and send bytes behind the end.
final class BodyDecoder {
  private enum State { case beginning, plain, inflating, ended }

  private var state = State.beginning
  /// Layers of compression that may still be undone.
  private let layers: Int
  private let mayBeDeflate: Bool
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  /// What decodes that which this one has decompressed.
  private lazy var next = BodyDecoder(layers: layers - 1, mayBeDeflate: false)
  private var hasGiven = false
  private static let pieceSize = 65_536

  /// - Parameter coding: the body's Content-Encoding, where there is one (RFC 9110 §8.4).
  convenience init(coding: String?) {
    self.init(layers: 3, mayBeDeflate: coding?.contains("deflate") ?? false)
  }

  private init(layers: Int, mayBeDeflate: Bool) {
    self.layers = layers
    self.mayBeDeflate = mayBeDeflate
    stream.initialize(to: z_stream())
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Hands on what the next bytes mean.
  /// - Throws: `FeedError.damagedCompression` where nothing of the body can be read; what `body` throws.
  func decode(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(FeedError) -> Void
  ) throws(FeedError) {
    guard let first = bytes.first else { return }
    if state == .beginning {
      let isInflated = windowBits(first).map { podcastfs_inflate_begin(stream, $0) == Z_OK } ?? false
      state = isInflated ? .inflating : .plain
    }
    switch state {
    case .plain: try body(bytes)
    case .inflating: try inflate(bytes) { piece throws(FeedError) in try next.decode(piece, body) }
    // What follows the end of the compressed data is left out.
    case .beginning, .ended: break
    }
  }

  /// By the first byte: 0x1F begins gzip (RFC 1952), and no document.
  private func windowBits(_ first: UInt8) -> Int32? {
    switch first {
    case 0x1F where layers > 0: 15 + 16
    // Deflate within zlib (RFC 1950), as the name means, and bare (RFC 1951), as many send it.
    case 0x78 where mayBeDeflate: 15
    case 0x3C, 0xEF, 0xFE, 0xFF, 0...0x20: nil
    default: mayBeDeflate ? -15 : nil
    }
  }

  private func inflate(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(FeedError) -> Void
  ) throws(FeedError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 8)
    defer { buffer.deallocate() }
    // zlib only reads from it.
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(bytes.count)
    while true {
      stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(buffer.count)
      let result = CZlib.inflate(stream, Z_NO_FLUSH)
      let count = buffer.count - Int(stream.pointee.avail_out)
      if count > 0 {
        hasGiven = true
        try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
      switch result {
      case Z_OK where stream.pointee.avail_out == 0 || stream.pointee.avail_in > 0: continue
      // More is needed.
      case Z_OK, Z_BUF_ERROR: return
      // A file of gzip may have several parts, one behind the other.
      case Z_STREAM_END
      where stream.pointee.avail_in > 0 && stream.pointee.next_in?.pointee == 0x1F
        && inflateReset(stream) == Z_OK:
        continue
      default:
        if result != Z_STREAM_END, !hasGiven { throw .damagedCompression }
        return state = .ended
      }
    }
  }
}
