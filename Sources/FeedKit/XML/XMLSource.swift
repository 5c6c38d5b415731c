internal import PosixKit

/// A document's bytes, which may be read more than once.
enum XMLSource {
  case memory(UnsafeRawBufferPointer)
  /// A descriptor that can be read from any place.
  case file(Int32)

  /// Pieces of one size, however the bytes have come: libxml2 does not find every error at the same place where
  /// the pieces differ.
  static let pieceSize = 65_536

  /// Hands over the pieces, from the first on, for as long as `body` wants them.
  func forEachPiece(
    _ body: (UnsafeRawBufferPointer) throws(FeedError) -> Bool
  ) throws(FeedError) {
    switch self {
    case .memory(let bytes):
      for start in stride(from: 0, to: bytes.count, by: Self.pieceSize) {
        let end = min(start + Self.pieceSize, bytes.count)
        if try !body(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) { return }
      }
    case .file(let descriptor):
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 8)
      defer { buffer.deallocate() }
      var offset: Int64 = 0
      while true {
        let count: Int
        do { count = try preadFully(descriptor, into: buffer, at: offset) } catch { throw .storage(error) }
        if count == 0 { return }
        if try !body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { return }
        offset += Int64(count)
      }
    }
  }
}
