internal import CLinux

/// umount2(2); `lazily` also while files are open in it (MNT_DETACH). For root.
package func unmountFileSystem(_ path: String, lazily: Bool) throws(PosixError) {
  try retrying("unmount", path) { lazily ? podcastfs_unmount_lazily(path) : podcastfs_unmount(path) }
}
