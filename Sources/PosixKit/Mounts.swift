internal import Glibc

/// umount2(2); `lazily` also while files are open in it (MNT_DETACH). For root.
package func unmountFileSystem(_ path: String, lazily: Bool) throws(PosixError) {
  try retrying("unmount", path) { umount2(path, lazily ? Int32(MNT_DETACH) : 0) }
}
