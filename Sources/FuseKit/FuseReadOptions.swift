internal import CFuse3
internal import Glibc

/// How a file is read.
package struct FuseReadOptions: Sendable {
  /// Whether it was opened with O_NONBLOCK.
  package let isNonblocking: Bool
  /// Whether it is a program's read(2) as it stands. Else the kernel fills its pages, and takes an answer that is short
  /// for the file's end.
  ///
  /// The kernel names the lock's owner in the first case only (FUSE_READ_LOCKOWNER), as one of 2^64 numbers that is
  /// never 0 but by chance.
  package let isCall: Bool

  init(_ info: fuse_file_info?) {
    isNonblocking = (info?.flags ?? 0) & O_NONBLOCK != 0
    isCall = (info?.lock_owner ?? 0) != 0
  }
}
