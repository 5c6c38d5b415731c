internal import Glibc
internal import PosixKit

/// Whether the mounts that are there are alive, and can be taken away again.
package enum MountChecks {
  package static func all() -> [Finding] {
    let mounts = MountTable.all().filter { $0.type == "fuse.podcastfs" }.map { mount in
      switch MountProbe.look(at: mount.mountPoint) {
      case .alive: Finding.fine("mounted on \(mount.mountPoint)")
      case .dead:
        Finding.problem(
          "the mount on \(mount.mountPoint) is dead: its process has gone",
          mend: "podcastfs mount \(mount.mountPoint), or podcastfs unmount \(mount.mountPoint)")
      case .silent:
        Finding.problem(
          "the mount on \(mount.mountPoint) does not answer: its process is held up or stopped",
          mend: "podcastfs unmount --lazy \(mount.mountPoint), then podcastfs mount \(mount.mountPoint)")
      }
    }
    return mounts + [table("/etc/mtab", isRoot: geteuid() == 0)].compactMap { $0 }
  }

  /// fusermount3 looks into it before it unmounts for anybody but root.
  package static func table(_ path: String, isRoot: Bool) -> Finding? {
    if isRoot || access(path, R_OK) == 0 { return nil }
    return .problem(
      "\(path) is missing: a mount cannot be taken away", mend: "as root: ln -s ../proc/self/mounts \(path)")
  }
}
