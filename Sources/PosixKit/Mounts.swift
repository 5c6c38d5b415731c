internal import CLinux
internal import Glibc

extension FileDescriptor {
  /// Which mount the file was reached by, a number that no other mount of this run of the machine has (statx(2));
  /// 0 where the system does not tell.
  package var mountIdentity: UInt64 { podcastfs_mount_identity(rawValue) }

  /// When the file was made, in nanoseconds since 1970 (an inode's number is given again); 0 where unknown.
  package var birthTime: Int64 { podcastfs_birth_time(rawValue) }

  /// The names that this process gives to mounts are good for those in the same namespace only
  /// (mount_namespaces(7)); 0 where it can't be told.
  package static let mountNamespace: UInt64 = {
    var status = stat()
    return stat("/proc/self/ns/mnt", &status) == 0 ? UInt64(status.st_ino) : 0
  }()
}

/// umount2(2); `lazily` also while files are open in it (MNT_DETACH). For root.
package func unmountFileSystem(_ path: String, lazily: Bool) throws(PosixError) {
  try retrying("unmount", path) { umount2(path, lazily ? Int32(MNT_DETACH) : 0) }
}
