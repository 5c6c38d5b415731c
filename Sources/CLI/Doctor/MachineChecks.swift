internal import BusKit
internal import FeedKit
internal import Glibc
internal import HTTPKit
internal import MountHandover
internal import MountService
internal import PosixKit

/// Whether this machine and user can mount, whether the libraries are there that are loaded when they are needed, and whether
/// the mounts that are there are alive.
package enum MachineChecks {
  package static func all() -> [Finding] {
    [device("/dev/fuse"), helper(ChildProcess.find("fusermount3"))] + mounts() + keeping() + libraries()
  }

  // MARK: FUSE

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

  /// Checks fusermount3, which mounts for ordinary users: it must belong to root and be set-user-ID.
  package static func helper(_ path: String?) -> Finding {
    guard let path else { return .problem("fusermount3 is not installed", fix: "apt-get install fuse3") }
    var status = stat()
    let isSetUID = stat(path, &status) == 0 && status.st_uid == 0 && status.st_mode & S_ISUID != 0
    return .check(
      isSetUID || geteuid() == 0, "\(path) can mount", or: "\(path) does not run as root",
      fix: "as root: chown root \(path) && chmod u+s \(path)")
  }

  // MARK: Mounts

  private static func mounts() -> [Finding] {
    MountTable.all().filter(\.isOurs).map(\.mountPoint).map { path in
      switch MountProbe.look(at: path) {
      case .alive: .fine("mounted on \(path)")
      case .dead:
        .problem(
          "the mount on \(path) is dead: its process has died",
          fix: "podcastfs mount \(path), or podcastfs unmount \(path)")
      case .silent:
        .problem(
          "the mount on \(path) does not answer: its process hangs or is stopped",
          fix: "podcastfs unmount --lazy \(path), then podcastfs mount \(path)")
      }
    }
  }

  private static func keeping() -> [Finding] {
    if !canKeep || Keeper.program != nil { return [] }
    return [
      .problem(
        "podcastfs-keep is missing: a mount ends with its process", fix: "install it beside podcastfs")
    ]
  }

  /// Whether the kernel can hand a mount over, by its version: it tells so itself only when something is mounted.
  static var canKeep: Bool {
    var names = utsname()
    uname(&names)
    let kernel = withUnsafeBytes(of: &names.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let numbers = kernel.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 9)
  }

  // MARK: Libraries

  /// - Parameter program: podcastfs, whose parser's process is tried.
  package static func libraries(program: String = FeedReader.thisProgram) -> [Finding] {
    // What a process that parses feeds can still do, as it finds out itself.
    let outcome = try? ChildProcess.run([program, FeedWorker.probeArgument])
    return [
      curl(), sandbox(status: outcome?.status ?? 1, words: outcome?.errors ?? "cannot be started"),
      Bus.missing.map { .note("\($0): no notifications, every network counts as unmetered") }
        ?? .fine("libsystemd: notifications, metered networks and media players by D-Bus"),
    ]
  }

  package static func sandbox(status: Int32, words: String) -> Finding {
    let name = "feeds are parsed in a sandbox"
    return .check(
      status == 0, "\(name)\(words.isEmpty ? "" : " (\(words))"): no files, no network, no programs",
      or: "\(name): \(words)", fix: "use a Linux kernel with Landlock or seccomp (5.13 or later)")
  }

  private static func curl() -> Finding {
    do throws(HTTPError) { try HTTPLibrary.load() } catch {
      return .problem(error.message, fix: "apt-get install libcurl4")
    }
    return .fine("libcurl can be loaded")
  }
}
