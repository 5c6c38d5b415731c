internal import Glibc

extension FileDescriptor {
  /// open(2) of a file of our own: never waits (a fifo in its place would), follows no symbolic link in its last
  /// part, and is a regular file or fails with EINVAL.
  package init(
    openingRegular path: String, _ flags: Int32, mode: UInt32 = 0o600
  ) throws(PosixError) {
    let opened = try FileDescriptor(opening: path, flags | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY, mode: mode)
    let status = try opened.status()
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw PosixError(.EINVAL, "open (no regular file)", path)
    }
    self = opened
  }
}

extension Directories {
  /// The whole of a small file of our own; see `FileDescriptor.init(openingRegular:_:mode:)`.
  package static func readRegular(_ path: String, limit: Int = 16 << 20) throws(PosixError) -> [UInt8] {
    let file = try FileDescriptor(openingRegular: path, O_RDONLY)
    let size = Int(clamping: try file.status().st_size)
    var bytes = [UInt8](repeating: 0, count: min(size, limit))
    let count = try bytes.withUnsafeMutableBytes { buffer in
      Result { () throws(PosixError) in try file.read(into: buffer, at: 0) }
    }.get()
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}
