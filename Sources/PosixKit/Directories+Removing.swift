internal import Glibc

extension Directories {
  /// Removes a file, or a directory with all that is in it, as far as that can be done; never leaves the file system
  /// that it is on, and follows no symbolic link.
  package static func removeTree(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    for name in (try? names(in: path)) ?? [] {
      var inner = stat()
      let entry = "\(path)/\(name)"
      if lstat(entry, &inner) == 0, inner.st_dev == status.st_dev { removeTree(entry) }
    }
    rmdir(path)
  }
}
