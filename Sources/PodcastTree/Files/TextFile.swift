internal import PosixKit

/// A small file whose bytes are there as a whole when it is opened: status, subscription list, log, sidecars.
final class TextFile: OpenFile {
  private let bytes: [UInt8]
  let isDirect: Bool
  let changesAttributes: Bool

  /// - Parameter isDirect: whether it is made at each open, so that its size differs from one to the next.
  init(_ bytes: [UInt8], isDirect: Bool = true, changesAttributes: Bool = false) {
    self.changesAttributes = changesAttributes
    self.bytes = bytes
    self.isDirect = isDirect
  }

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
