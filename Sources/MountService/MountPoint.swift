internal import Configuration
internal import Glibc
package import PosixKit

package enum MountPoint {
  /// `~/Podcasts`, made where it is missing.
  package static func usual() throws -> String {
    let path = try usualPath()
    do { try make(path) } catch {
      throw MountFailure("\(error); set HOME to a directory you can write, or name a mount point")
    }
    return path
  }

  package static func usualPath() throws -> String {
    guard let home = Places.processEnvironment["HOME"], home.hasPrefix("/") else {
      throw MountFailure("no home directory: set HOME, or name a mount point")
    }
    return (home == "/" ? "" : home) + "/Podcasts"
  }

  /// Makes the directory and its missing parents, with the user's own umask.
  package static func make(_ path: String) throws {
    let outcome = UserMask.holding { Result { try Directories.create(path, mode: 0o777) } }
    // A dead mount may be there, which is no directory to look at.
    if case .failure(let error) = outcome, !MountTable.isOurs(path) { throw error }
  }

  /// Gives the user a directory that the automounter (autofs's or systemd's) has made for the mount: fusermount3 mounts only
  /// where the user can write. Any other directory must be the user's own.
  package static func handOver(_ path: String, to account: Account) {
    guard let path = absolutePath(path), MountTable.mount(holding: path)?.type == "autofs" else { return }
    // Where that fails, mounting does, and says why.
    _ = chown(path, account.user, account.group)
    _ = chmod(path, 0o755)
  }

  /// Makes sure that `path` can be mounted on; a mount of ours that a crash has left there is cleared.
  /// - Returns: its absolute path without symbolic links.
  /// - Throws: `MountFailure` saying what is in the way.
  static func prepare(_ path: String) throws -> String {
    func failure(_ why: String) -> MountFailure { MountFailure("cannot mount on \(path): \(why)") }
    if access("/dev/fuse", F_OK) != 0 {
      throw MountFailure("cannot mount: /dev/fuse is missing (load the kernel's module: modprobe fuse)")
    }
    if access("/dev/fuse", R_OK | W_OK) != 0 {
      throw MountFailure("cannot mount: no permission to use /dev/fuse (chmod 666 /dev/fuse)")
    }
    guard let absolute = absolutePath(path) else {
      throw failure(Errno.current == .ENOENT ? "no such directory" : "\(Errno.current)")
    }
    while let mount = MountTable.mount(on: absolute) {
      // Another program's is not looked at by a process of another group: where automount has asked for this one, that
      // would wait for it.
      if !mount.isOurs {
        if isDead(absolute) { throw failure("a dead mount of another program is in the way") }
        break
      }
      switch MountProbe.look(at: absolute) {
      case .alive:
        throw MountFailure(
          "already mounted on \(path), perhaps as a demonstration: podcastfs unmount \(path)")
      case .silent:
        throw MountFailure("the mount on \(path) does not answer: podcastfs unmount --lazy \(path)")
      case .dead:
        do { try Unmount.run(absolute, lazily: true) } catch {
          throw MountFailure("cannot clear the dead mount on \(path): \(error)")
        }
      }
    }
    let names: [String]
    do throws(PosixError) { names = try Directories.names(in: absolute) } catch {
      throw error.errno == .ENOTDIR ? failure("it is not a directory") : MountFailure("\(error)")
    }
    if !names.isEmpty { throw failure("the directory is not empty") }
    return absolute
  }

  /// Whether a mount's process has gone and left it there.
  static func isDead(_ path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) != 0 && [.ENOTCONN, .ECONNABORTED].contains(Errno.current)
  }

  /// The path from the root without symbolic links, also of a directory under a mount whose process has died;
  /// nil where it leads nowhere, with the reason in errno.
  package static func absolutePath(_ path: String) -> String? {
    // Looked into, a dead mount gives an error; looked at, not.
    var trimmed = Substring(path)
    while trimmed.count > 1, trimmed.hasSuffix("/") || trimmed.hasSuffix("/.") {
      trimmed = trimmed.dropLast()
    }
    if let resolved = realpath(String(trimmed), nil) {
      defer { free(resolved) }
      return String(cString: resolved)
    }
    let reason = errno
    guard Errno.current == .ENOTCONN, let slash = trimmed.lastIndex(of: "/"), slash != trimmed.startIndex,
      let resolved = realpath(String(trimmed[..<slash]), nil)
    else {
      errno = reason
      return nil
    }
    defer { free(resolved) }
    let base = String(cString: resolved)
    return (base == "/" ? "" : base) + trimmed[slash...]
  }
}
