internal import Glibc
package import PosixKit

package typealias CreatedFile = (attributes: NodeAttributes, file: any OpenFile)

package protocol OpenFile: AnyObject, Sendable {
  /// Whether reads must come here as they are: the size is not known, or nothing may be cached.
  var isDirect: Bool { get }
  /// Whether what the kernel has cached of this node is still right.
  var keepsCache: Bool { get }
  /// Whether it can only be read on, from where the last read ended.
  var isStream: Bool { get }
  /// The exact size in bytes, nil while it is not known.
  var size: Int64? { get }
  /// Whether the kernel must forget the node's attributes before the open is answered.
  var changesAttributes: Bool { get }
  /// Which representation of its bytes it gives; 0 where that is not known, or there is but one.
  var generation: UInt32 { get }

  /// Copies cached bytes without waiting: as many as `buffer` takes or the file has, 0 at its end; nil where the
  /// reader has to wait.
  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>?
  /// Whether a read(2) that comes here as it is may be answered with a part of what it asks for.
  var givesParts: Bool { get }
  /// Copies the cached part from `offset` on; 0 at the file's end, nil where nothing is cached there.
  func readPart(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>?
  /// Ends when `read` would answer, or with the reason why it never will.
  func whenReadable(at offset: Int64, count: Int) -> Answer<Void>
  /// Whether `read` answers something; else calls `change` when it does (poll(2)).
  func isReady(orAt change: @escaping @Sendable () -> Void) -> Bool
  func write(at offset: Int64, _ bytes: UnsafeRawBufferPointer) -> Result<Int, Errno>
  /// close(2) of one of its descriptors.
  func flush() -> Answer<Void>
  func close()
}

extension OpenFile {
  package var isDirect: Bool { true }
  package var keepsCache: Bool { false }
  package var isStream: Bool { false }
  package var givesParts: Bool { false }
  package func readPart(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    read(at: offset, into: buffer)
  }
  package func isReady(orAt change: @escaping @Sendable () -> Void) -> Bool { true }
  package var changesAttributes: Bool { false }
  package var generation: UInt32 { 0 }
  package func write(at offset: Int64, _ bytes: UnsafeRawBufferPointer) -> Result<Int, Errno> {
    .failure(.EBADF)
  }
  package func flush() -> Answer<Void> { .value(()) }
  package func whenReadable(at offset: Int64, count: Int) -> Answer<Void> { .value(()) }
}

/// A small file whose bytes are there as a whole when it is opened: status, subscription list, log, sidecars.
final class TextFile: OpenFile {
  private let bytes: [UInt8]
  let isDirect: Bool
  let changesAttributes: Bool

  /// - Parameter isDirect: whether it is made at each open, so that its size differs from one to the next.
  init(_ bytes: [UInt8], isDirect: Bool = true, changesAttributes: Bool = false) {
    (self.changesAttributes, self.bytes, self.isDirect) = (changesAttributes, bytes, isDirect)
  }

  var size: Int64? { Int64(bytes.count) }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    guard offset >= 0, offset < bytes.count else { return .success(0) }
    let part = bytes[Int(offset)...].prefix(buffer.count)
    buffer.copyBytes(from: part)
    return .success(part.count)
  }

  func close() {}
}

/// The log file: each read gets what it holds by then (`tail -f`).
final class FollowedFile: OpenFile {
  private let path: String
  init(_ path: String) { self.path = path }
  var size: Int64? { Self.size(path) }

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
