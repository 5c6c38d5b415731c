internal import CLinux
internal import Glibc

package enum Directories {
  /// Creates `path` and what is missing above it, each with `mode`; one that is there stays as it is.
  package static func create(_ path: String, mode: UInt32 = 0o700) throws(PosixError) {
    if mkdir(path, mode) == 0 || Errno.current == .EEXIST { return }
    guard Errno.current == .ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw .last("create", path)
    }
    try create(String(path[..<slash]), mode: mode)
    // In /proc, a directory cannot be created though its parent is there: ENOENT as well.
    if mkdir(path, mode) != 0 && Errno.current != .EEXIST { throw .last("create", path) }
  }

  /// Creates `path` like `create`, then checks that it is a directory of this user that nobody else may
  /// enter, and sets its mode to 0700 where it is ours but open. A symbolic link in its place must be of this
  /// user's making.
  package static func createPrivate(_ path: String) throws(PosixError) {
    try create(path)
    var status = stat()
    try retrying("inspect", path) { lstat(path, &status) }
    if status.st_mode & S_IFMT == S_IFLNK {
      guard status.st_uid == geteuid() else {
        throw PosixError(.EACCES, "use (it is another user's link)", path)
      }
      try retrying("use", path) { stat(path, &status) }
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw PosixError(.ENOTDIR, "use", path) }
    guard status.st_uid == geteuid() else {
      throw PosixError(.EACCES, "use (it belongs to another user)", path)
    }
    if status.st_mode & 0o077 != 0 { try retrying("protect", path) { chmod(path, 0o700) } }
  }

  /// Whether something has this name; a symbolic link leads to something.
  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// What a symbolic link says (readlink(2)); nil where `path` is none. Of a running program's file that has been deleted or
  /// replaced, the kernel adds " (deleted)".
  package static func linkTarget(_ path: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      guard let base = buffer.baseAddress else { return nil }
      let count = readlink(path, base, buffer.count)
      guard count > 0 else { return nil }
      return String(
        decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]), as: UTF8.self)
    }
  }

  /// The file that a path means, also where a symbolic link leads to nothing yet.
  package static func target(of path: String) -> String {
    var path = path
    // As many as the kernel follows (path_resolution(7)).
    for _ in 0..<40 {
      guard let link = linkTarget(path) else { break }
      let folder = link.hasPrefix("/") ? "" : path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
      path = folder + link
    }
    return path
  }

  /// The names in `path` without "." and "..", in no order.
  package static func names(in path: String) throws(PosixError) -> [String] {
    guard let directory = opendir(path) else { throw .last("list", path) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names.filter { $0 != "." && $0 != ".." }
  }

  /// rename(2), but EEXIST where there is something of the new name.
  package static func rename(_ path: String, toNew newPath: String) -> Int32 {
    // RENAME_NOREPLACE
    renameat2(AT_FDCWD, path, AT_FDCWD, newPath, 1)
  }

  /// Puts `bytes` in the place of `path` in one step: a reader sees the old file or the new one.
  /// - Parameter outlivesPower: also after a power loss (rename(2) after fsync(2)). Not for files of one boot.
  package static func replace(
    _ path: String, with bytes: [UInt8], mode: UInt32 = 0o600, outlivesPower: Bool = true
  ) throws {
    let temporary = "\(path).\(getpid()).new"
    do {
      let file = try FileDescriptor(opening: temporary, O_WRONLY | O_CREAT | O_TRUNC, mode: mode)
      try bytes.withUnsafeBytes { try file.append($0) }
      if outlivesPower { try file.synchronize() }
      try retrying("replace", path) { Glibc.rename(temporary, path) }
    } catch let error as PosixError {
      unlink(temporary)
      // The file that was meant, and whatever failed on the way to it.
      throw PosixError(error.errno, "write", path)
    }
  }
}

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

package enum DiskSpace {
  /// Bytes that an ordinary user may still write at `path` (statvfs(3)).
  /// - Returns: nil where that is not known. Some file systems tell no size at all: ramfs, some of FUSE.
  package static func available(at path: String) -> Int64? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return available(
      blocks: UInt64(status.f_blocks), free: UInt64(status.f_bavail), size: UInt64(status.f_frsize))
  }

  /// The same by numbers of blocks, of the whole and free, and the bytes of one.
  package static func available(blocks: UInt64, free: UInt64, size: UInt64) -> Int64? {
    if blocks == 0 { return nil }
    let (bytes, overflow) = free.multipliedReportingOverflow(by: size)
    return overflow ? .max : Int64(clamping: bytes)
  }
}
