internal import Glibc
internal import PosixKit

/// The log file: each read gets what it holds by then (`tail -f`).
final class FollowedFile: OpenFile {
  private let path: String

  init(_ path: String) { self.path = path }

  var isDirect: Bool { true }
  var keepsCache: Bool { false }
  var size: Int64? { Self.size(path) }

  /// In bytes; 0 where it is not there.
  static func size(_ path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    do {
      return .success(try FileDescriptor(openingRegular: path, O_RDONLY).read(into: buffer, at: offset))
    } catch {
      return error.errno == .ENOENT ? .success(0) : .failure(error.errno)
    }
  }

  func close() {}
}
