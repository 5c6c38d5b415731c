internal import Glibc
internal import PosixKit

/// Unmounts: by umount2(2) as root, by fusermount3 as any other user.
package enum Unmount {
  /// - Throws: `MountFailure` with the reason, EBUSY among them.
  package static func now(_ path: String) throws { try run(path, lazily: false) }

  /// Also while files are open in it.
  package static func lazily(_ path: String) throws { try run(path, lazily: true) }

  private static func run(_ path: String, lazily: Bool) throws {
    if geteuid() == 0 {
      do { try unmountFileSystem(path, lazily: lazily) } catch { throw MountFailure("\(error.errno)") }
      return
    }
    let outcome = try ChildProcess.run(["fusermount3", lazily ? "-uz" : "-u", "--", path])
    if outcome.status != 0 {
      if access("/etc/mtab", R_OK) != 0 {
        throw MountFailure("fusermount3 needs /etc/mtab (as root: ln -s ../proc/self/mounts /etc/mtab)")
      }
      let reason = outcome.errors.split(separator: "\n").first.map(String.init)
      throw MountFailure(reason ?? "fusermount3 failed")
    }
  }
}
