internal import CLinux

/// Two ends of a pipe, close-on-exec: pipe(7).
package struct Pipe: ~Copyable, Sendable {
  package let reader: FileDescriptor
  package let writer: FileDescriptor

  package init() throws(PosixError) {
    var ends: [Int32] = [-1, -1]
    try retrying("create a pipe") { podcastfs_pipe(&ends) }
    reader = FileDescriptor(owning: ends[0])
    writer = FileDescriptor(owning: ends[1])
  }

  /// The reading end; the writing end closes.
  package consuming func takeReader() -> FileDescriptor { reader }
}
