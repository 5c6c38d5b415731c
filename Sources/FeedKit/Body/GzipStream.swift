internal import CZlib

/// Decompresses gzip (RFC 1952) as it comes. Anything damaged is an error, unlike in a feed (`BodyDecoder`).
package final class GzipStream {
  /// The data are no gzip, or damaged.
  package struct Damaged: Error, Hashable, Sendable {}

  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 8)
  private let isReady: Bool
  /// Whether the compressed data are at their end.
  package private(set) var hasEnded = false

  package init() {
    stream.initialize(to: z_stream())
    isReady = podcastfs_inflate_begin(stream, 15 + 16) == Z_OK
  }

  deinit {
    if isReady { inflateEnd(stream) }
    stream.deallocate()
    output.deallocate()
  }

  /// Calls `body` with what the next bytes mean. What follows the end is left out.
  package func inflate(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard isReady else { throw Damaged() }
    // zlib only reads from it.
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(bytes.count)
    while !hasEnded {
      stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(output.count)
      let result = CZlib.inflate(stream, Z_NO_FLUSH)
      let count = output.count - Int(stream.pointee.avail_out)
      if count > 0 { try body(UnsafeRawBufferPointer(rebasing: output[..<count])) }
      switch result {
      case Z_STREAM_END: hasEnded = true
      case Z_OK where stream.pointee.avail_out == 0: continue
      case Z_OK, Z_BUF_ERROR: return
      default: throw Damaged()
      }
    }
  }
}
