internal import CZlib

/// Decompresses gzip (RFC 1952), as it comes. There may be several parts, one behind the other.
package final class Inflater {
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 8)
  package private(set) var hasEnded = false

  /// - Returns: nil where there is no memory.
  package init?() {
    stream.initialize(to: z_stream())
    guard podcastfs_inflate_begin(stream) == Z_OK else { return nil }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    output.deallocate()
  }

  /// Calls `body` with what the next bytes mean. What follows the end is left out.
  /// - Returns: false where they are damaged.
  package func inflate<Failure>(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    // zlib only reads from it.
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(bytes.count)
    while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0 {
      if hasEnded {
        guard stream.pointee.avail_in > 0, stream.pointee.next_in?.pointee == 0x1F,
          inflateReset(stream) == Z_OK
        else { return true }
        hasEnded = false
      }
      stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(output.count)
      let result = CZlib.inflate(stream, Z_NO_FLUSH)
      let count = output.count - Int(stream.pointee.avail_out)
      if count > 0 { try body(UnsafeRawBufferPointer(rebasing: output[..<count])) }
      switch result {
      case Z_OK: continue
      case Z_STREAM_END: hasEnded = true
      case Z_BUF_ERROR: return true
      default: return false
      }
    }
    return true
  }
}
