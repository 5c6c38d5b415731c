internal import CLinux

extension FileDescriptor {
  /// A file that is only in memory and has no name in any directory: memfd_create(2).
  /// - Parameter name: for proc(5).
  package static func inMemory(_ name: String) throws(PosixError) -> FileDescriptor {
    FileDescriptor(owning: try retrying("create a file in memory") { podcastfs_memory_file(name) })
  }
}
