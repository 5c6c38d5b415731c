internal import Glibc
internal import PosixKit

/// A small file whose bytes are there as a whole when it is opened: status, subscription list, log, sidecars.
final class TextFile: OpenFile {
  private let bytes: [UInt8]
  let isDirect: Bool
  let changesAttributes: Bool
  /// The number and the file under which it is kept as long as it is open (`OpenTexts`).
  private let kept: (number: UInt64, path: String)?

  /// - Parameter isDirect: whether it is made at each open, so that its size differs from one to the next.
  init(
    _ bytes: [UInt8], isDirect: Bool = true, changesAttributes: Bool = false,
    kept: (number: UInt64, path: String)? = nil
  ) {
    self.kept = kept
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

  func keepPlace(_ keep: @escaping @Sendable (UInt64) -> Void) {
    if let kept { keep(kept.number) }
  }

  func close() {
    if let kept { unlink(kept.path) }
  }
}
