internal import PosixKit

/// A file whose text is made when it is opened: status, subscription list, log.
final class TextFile: OpenFile {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Its size differs from one open to the next.
  var isDirect: Bool { true }
  var keepsCache: Bool { false }
  var size: Int64? { Int64(bytes.count) }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    guard offset >= 0, offset < bytes.count else { return .success(0) }
    let part = bytes[Int(offset)...].prefix(buffer.count)
    buffer.copyBytes(from: part)
    return .success(part.count)
  }

  func close() {}
}
