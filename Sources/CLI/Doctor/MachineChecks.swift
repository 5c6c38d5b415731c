internal import BusKit
internal import Configuration
internal import FeedKit
internal import FuseKit
internal import Glibc
internal import HTTPKit
internal import MountHandover
internal import MountService
internal import PosixKit
internal import SQLiteKit

/// Whether this machine and user can mount, whether the libraries have the needed features, and whether the mounts that are
/// there are alive.
package enum MachineChecks {
  package static func all() -> [Finding] {
    let isRoot = geteuid() == 0
    return [
      library(FuseSession.libraryVersion), device("/dev/fuse"), helper(ChildProcess.find("fusermount3")),
    ]
      + [sharing("/etc/fuse.conf", isRoot: isRoot)].compactMap(\.self) + mounts() + keeping()
      + [table("/etc/mtab", isRoot: isRoot)].compactMap(\.self) + libraries()
  }

  // MARK: FUSE

  package static func library(_ version: String) -> Finding {
    let numbers = version.split(separator: ".").map { Int($0) ?? 0 }
    return .check(
      !numbers.lexicographicallyPrecedes([3, 10]), "libfuse \(version)",
      or: "libfuse \(version) is too old: 3.10 is needed", fix: "apt-get install libfuse3-3")
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

  /// Checks fusermount3, which mounts for ordinary users: it must belong to root and be set-user-ID.
  package static func helper(_ path: String?) -> Finding {
    guard let path else { return .problem("fusermount3 is not installed", fix: "apt-get install fuse3") }
    var status = stat()
    let isSetUID = stat(path, &status) == 0 && status.st_uid == 0 && status.st_mode & S_ISUID != 0
    return .check(
      isSetUID || geteuid() == 0, "\(path) can mount", or: "\(path) does not run as root",
      fix: "as root: chown root \(path) && chmod u+s \(path)")
  }

  /// Ordinary users may use `allow_other` only where root allows it.
  package static func sharing(_ configuration: String, isRoot: Bool) -> Finding? {
    let bytes = (try? Directories.read(configuration, limit: 1 << 16)) ?? []
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    if isRoot || lines.contains(where: { $0.split(separator: " ").first == "user_allow_other" }) {
      return nil
    }
    return .note("for the option allow_other, add the line user_allow_other to \(configuration)")
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

  /// Findings about mounts that outlive their process.
  private static func keeping() -> [Finding] {
    if !canKeep {
      return [
        .note(
          "a mount ends with its process: another process can take it over from Linux 6.9 on (this is \(kernel))"
        )
      ]
    }
    if Keeper.program != nil { return [] }
    return [
      .problem(
        "podcastfs-keep is missing: a mount ends with its process", fix: "install it beside podcastfs")
    ]
  }

  private static var kernel: String {
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

  // MARK: Libraries

  /// - Parameter program: podcastfs, whose parser's process is tried.
  package static func libraries(program: String = FeedReader.thisProgram) -> [Finding] {
    // What a process that parses feeds can still do, as it finds out itself.
    let outcome = try? ChildProcess.run([program, FeedWorker.probeArgument])
    return [
      curl(),
      sandbox(status: outcome?.status ?? 1, words: outcome?.errors ?? "cannot be started"),
      Bus.missing.map { .note("\($0): no notifications, every network counts as unmetered") }
        ?? .fine("libsystemd: notifications, metered networks and media players by D-Bus"),
      sqlite(SQLiteLibrary.version, hasFullTextSearch: SQLiteLibrary.hasFullTextSearch),
    ]
  }

  package static func sandbox(status: Int32, words: String) -> Finding {
    let name = "feeds are parsed in a sandbox"
    return .check(
      status == 0, "\(name)\(words.isEmpty ? "" : " (\(words))"): no files, no network, no programs",
      or: "\(name): \(words)", fix: "use a Linux kernel with Landlock or seccomp (5.13 or later)")
  }

  private static func curl() -> Finding {
    do throws(HTTPError) {
      return .fine("libcurl \(try HTTPLibrary.version())")
    } catch {
      return .problem(error.message, fix: "apt-get install libcurl4")
    }
  }

  package static func sqlite(_ version: String, hasFullTextSearch: Bool) -> Finding {
    .check(
      hasFullTextSearch, "SQLite \(version) with full-text search",
      or: "SQLite \(version) has no full-text search (FTS5)", fix: "apt-get install libsqlite3-0")
  }
}
