internal import Glibc

/// Room on a file system.
package enum DiskSpace {
  /// Bytes that an ordinary user may still write at `path` (statvfs(3)).
  /// - Returns: nil where that is not known. Some file systems tell no size at all: ramfs, some of FUSE.
  package static func available(at path: String) -> Int64? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return available(
      blocks: UInt64(status.f_blocks), free: UInt64(status.f_bavail), size: UInt64(status.f_frsize))
  }

  /// - Parameters:
  ///   - blocks: of the whole file system; 0 where it tells no size.
  ///   - free: blocks that an ordinary user may still write.
  ///   - size: bytes of a block.
  package static func available(blocks: UInt64, free: UInt64, size: UInt64) -> Int64? {
    if blocks == 0 { return nil }
    let (bytes, overflow) = free.multipliedReportingOverflow(by: size)
    return overflow ? .max : Int64(clamping: bytes)
  }
}
