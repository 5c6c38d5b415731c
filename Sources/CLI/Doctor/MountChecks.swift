internal import Configuration
internal import Glibc
internal import MountHandover
internal import MountService
internal import PosixKit

/// Whether the mounts that are there are alive, and can be taken away again.
package enum MountChecks {
  package static func all() -> [Finding] {
    let mounts = MountTable.all().filter { $0.type == "fuse.podcastfs" }.map { mount in
      switch MountProbe.look(at: mount.mountPoint) {
      case .alive: Finding.fine("mounted on \(mount.mountPoint)")
      case .dead:
        Finding.problem(
          "the mount on \(mount.mountPoint) is dead: its process has died",
          fix: "podcastfs mount \(mount.mountPoint), or podcastfs unmount \(mount.mountPoint)")
      case .silent:
        Finding.problem(
          "the mount on \(mount.mountPoint) does not answer: its process hangs or is stopped",
          fix: "podcastfs unmount --lazy \(mount.mountPoint), then podcastfs mount \(mount.mountPoint)")
      }
    }
    return mounts + keeping() + [table("/etc/mtab", isRoot: geteuid() == 0)].compactMap { $0 }
  }

  /// Findings about mounts that outlive their process.
  private static func keeping() -> [Finding] {
    var findings: [Finding] = []
    if !canKeep {
      findings.append(
        .note(
          "a mount ends with its process: another process can take it over from Linux 6.9 on (this is \(kernel))"
        ))
    } else if Keeper.program == nil {
      findings.append(
        .problem(
          "podcastfs-keep is missing: a mount ends with its process", fix: "install it beside podcastfs"))
    }
    guard let places = try? Places() else { return findings }
    return findings
      + MountServer.elsewhere(places: places).map { server in
        let mountPoint = server.process.flatMap { Processes.arguments(of: $0).last } ?? "a mount"
        return .note("\(mountPoint) \(MountUsers.elsewhere(server))")
      }
  }

  static var kernel: String {
    var names = utsname()
    uname(&names)
    return withUnsafeBytes(of: &names.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// By its version: the kernel itself tells only when something is mounted.
  static var canKeep: Bool {
    let numbers = kernel.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 9)
  }

  /// fusermount3 reads it before it unmounts for an ordinary user.
  package static func table(_ path: String, isRoot: Bool) -> Finding? {
    if isRoot || access(path, R_OK) == 0 { return nil }
    return .problem(
      "\(path) is missing: nobody but root can unmount", fix: "as root: ln -s ../proc/self/mounts \(path)")
  }
}
