internal import Glibc
internal import PosixKit

/// The directory that is to be mounted on.
enum MountPoint {
  /// Makes sure that `path` can be mounted on; a mount of ours that a crash has left there is cleared.
  /// - Returns: its absolute path without symbolic links.
  /// - Throws: `CommandFailure` saying what is in the way.
  static func prepare(_ path: String) throws -> String {
    try checkDevice()
    let absolute = try resolve(path)
    var status = stat()
    if stat(absolute, &status) != 0 {
      let reason = Errno.current
      guard reason == .ENOTCONN || reason == .EIO || reason == .ECONNABORTED else {
        throw CommandFailure("cannot mount on \(path): \(reason)")
      }
      try clearStale(absolute)
      guard stat(absolute, &status) == 0 else {
        throw CommandFailure("cannot mount on \(path): \(Errno.current)")
      }
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw CommandFailure("cannot mount on \(path): it is not a directory")
    }
    if MountTable.isOurs(absolute) { throw CommandFailure("podcastfs is already mounted on \(path)") }
    let names: [String]
    do { names = try Directories.names(in: absolute) } catch { throw CommandFailure("\(error)") }
    if !names.isEmpty { throw CommandFailure("cannot mount on \(path): the directory is not empty") }
    return absolute
  }

  /// realpath(3), also of a directory under a mount whose process has died.
  private static func resolve(_ path: String) throws -> String {
    if let resolved = realpath(path, nil) {
      defer { free(resolved) }
      return String(cString: resolved)
    }
    let reason = Errno.current
    if reason == .ENOTCONN, let absolute = absolutePath(path) { return absolute }
    if reason == .ENOENT { throw CommandFailure("cannot mount on \(path): no such directory") }
    throw CommandFailure("cannot mount on \(path): \(reason)")
  }

  /// The path from the root, with its parent's symbolic links resolved.
  static func absolutePath(_ path: String) -> String? {
    var trimmed = Substring(path)
    while trimmed.count > 1 && trimmed.hasSuffix("/") { trimmed = trimmed.dropLast() }
    let slash = trimmed.lastIndex(of: "/")
    let parent = slash.map { $0 == trimmed.startIndex ? "/" : String(trimmed[..<$0]) } ?? "."
    let name = slash.map { trimmed[trimmed.index(after: $0)...] } ?? trimmed
    guard let resolved = realpath(parent, nil) else { return nil }
    defer { free(resolved) }
    let base = String(cString: resolved)
    return base == "/" ? "/\(name)" : "\(base)/\(name)"
  }

  private static func checkDevice() throws {
    if access("/dev/fuse", F_OK) != 0 {
      throw CommandFailure("cannot mount: /dev/fuse is missing (load the kernel's module: modprobe fuse)")
    }
    if access("/dev/fuse", R_OK | W_OK) != 0 {
      throw CommandFailure("cannot mount: no permission to use /dev/fuse (chmod 666 /dev/fuse)")
    }
  }

  private static func clearStale(_ path: String) throws {
    guard MountTable.isOurs(path) else {
      throw CommandFailure("cannot mount on \(path): a dead mount of another program is in the way")
    }
    do { try Unmount.lazily(path) } catch {
      throw CommandFailure("cannot clear the dead mount on \(path): \(error)")
    }
  }
}
