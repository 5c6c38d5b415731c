internal import FuseKit
internal import Glibc
internal import PosixKit

/// Whether this machine and user can mount.
package enum FuseChecks {
  package static func all() -> [Finding] {
    var findings = [
      library(FuseSession.libraryVersion), device("/dev/fuse"), helper(ChildProcess.find("fusermount3")),
    ]
    if let note = sharing("/etc/fuse.conf", isRoot: geteuid() == 0) { findings.append(note) }
    return findings
  }

  /// Opens the device as a mount does.
  package static func device(_ path: String) -> Finding {
    do {
      _ = try FileDescriptor(opening: path, O_RDWR)
      return .fine("\(path) can be used")
    } catch {
      switch error.errno {
      case .ENOENT:
        return .problem(
          "\(path) is missing", fix: "as root: modprobe fuse (in a container: give it /dev/fuse)")
      case .EACCES, .EPERM:
        return .problem("this user may not use \(path)", fix: "as root: chmod 666 \(path)")
      default: return .problem("\(error)", fix: "as root: modprobe fuse")
      }
    }
  }

  /// The program that mounts for ordinary users must run as root.
  package static func helper(_ path: String?) -> Finding {
    guard let path else {
      return .problem("fusermount3 is not installed", fix: "apt-get install fuse3")
    }
    var status = stat()
    let isSetUID = stat(path, &status) == 0 && status.st_uid == 0 && status.st_mode & S_ISUID != 0
    if isSetUID || geteuid() == 0 { return .fine("\(path) can mount") }
    return .problem("\(path) does not run as root", fix: "as root: chown root \(path) && chmod u+s \(path)")
  }

  package static func library(_ version: String) -> Finding {
    let numbers = version.split(separator: ".").map { Int($0) ?? 0 }
    let isEnough = !numbers.lexicographicallyPrecedes([3, 10])
    return isEnough
      ? .fine("libfuse \(version)")
      : .problem("libfuse \(version) is too old: 3.10 is needed", fix: "apt-get install libfuse3-3")
  }

  /// Ordinary users may use `allow_other` only where root allows it.
  package static func sharing(_ configuration: String, isRoot: Bool) -> Finding? {
    if isRoot { return nil }
    let bytes = (try? Directories.read(configuration, limit: 1 << 16)) ?? []
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    if lines.contains(where: { $0.split(separator: " ").first == "user_allow_other" }) { return nil }
    return .note("for the option allow_other, add the line user_allow_other to \(configuration)")
  }
}
