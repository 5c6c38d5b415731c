internal import Glibc
internal import PosixKit

/// The kernel's list of mounts (proc(5), /proc/self/mountinfo).
package enum MountTable {
  package struct Mount {
    package var mountPoint: String
    package var type: String
    /// The file system's device number as the kernel has it, 20 bits of the minor number behind the major one: each mount of
    /// ours has its own.
    package var device: UInt64
    /// The user that mounted it, by number; nil for file systems that are no FUSE mount.
    package var user: UInt32?

    /// Whether it is a mount of podcastfs. Other FUSE file systems without a subtype have the type "fuse".
    package var isOurs: Bool { type == "fuse.podcastfs" }
  }

  /// The topmost mount on `path`; nil where there is none.
  package static func mount(on path: String) -> Mount? { all().last { $0.mountPoint == path } }

  /// The topmost mount that `path` lies in.
  package static func mount(holding path: String) -> Mount? {
    var found: Mount?
    for mount in all() where mount.mountPoint.utf8.count >= found?.mountPoint.utf8.count ?? 0 {
      let directory = mount.mountPoint == "/" ? "/" : mount.mountPoint + "/"
      if path == mount.mountPoint || path.hasPrefix(directory) { found = mount }
    }
    return found
  }

  package static func all() -> [Mount] {
    (try? Directories.read("/proc/self/mountinfo")).map { all(in: $0) } ?? []
  }

  /// - Parameter bytes: the text of a process's mountinfo.
  package static func all(in bytes: [UInt8]) -> [Mount] {
    bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      mount(String(decoding: line, as: UTF8.self))
    }
  }

  package static func isOurs(_ path: String) -> Bool { mount(on: path)?.isOurs ?? false }

  /// ID, parent's ID, device, root, mount point, options, optional fields, "-", type, source, options.
  private static func mount(_ line: String) -> Mount? {
    let fields = line.split(separator: " ")
    guard fields.count > 6, let separator = fields.dropFirst(6).firstIndex(of: "-"),
      separator + 1 < fields.count
    else { return nil }
    let device = fields[2].split(separator: ":").compactMap { UInt64($0) }.reduce(0) { $0 << 20 | $1 }
    return Mount(
      mountPoint: unescaped(fields[4]), type: String(fields[separator + 1]), device: device,
      user: fields[fields.endIndex - 1].split(separator: ",").first { $0.hasPrefix("user_id=") }
        .flatMap { UInt32($0.dropFirst("user_id=".count)) })
  }

  /// Blanks and backslashes come as three octal digits behind a backslash.
  private static func unescaped(_ text: Substring) -> String {
    let parts = text.split(separator: "\\", omittingEmptySubsequences: false)
    return parts.dropFirst().reduce(String(parts[0])) { text, part in
      guard let value = UInt8(part.prefix(3), radix: 8) else { return "\(text)\\\(part)" }
      return text + String(UnicodeScalar(value)) + part.dropFirst(3)
    }
  }
}

/// Whether a mount answers. A process of its own finds out: a system call that gets no answer cannot be interrupted, nor can
/// the process that waits in it be ended.
package enum MountProbe {
  package enum Answer: Hashable, Sendable {
    case alive
    /// Its process has gone and left it there.
    case dead
    /// Its process does not answer, or it is not one's own.
    case silent
  }

  /// The word that the process is called by.
  package static let word = "--probe"
  private static let deadStatus: Int32 = 2

  /// In that process. statvfs(2), because attributes may be in the kernel's cache still.
  package static func run(_ words: [String]) -> Int32 {
    guard words.count == 1 else { return 64 }
    return MountPoint.isDead(words[0]) ? deadStatus : 0
  }

  /// Seconds that a mount has to answer in.
  private static let patience = 5.0

  package static func look(at mountPoint: String) -> Answer {
    guard let process = try? ChildProcess.start(ProgramArguments.file, [word, mountPoint]) else {
      return .alive
    }
    guard let status = Waiting.poll(seconds: patience, { ChildProcess.reap(process) }) else {
      // It ends when the mount answers or is unmounted. This process does not wait for that.
      kill(process, SIGKILL)
      return .silent
    }
    return status == deadStatus ? .dead : .alive
  }
}

/// Unmounts: by umount2(2) as root, by fusermount3 as any other user.
package enum Unmount {
  /// - Parameter lazily: also while files are open in it.
  /// - Throws: `MountFailure` with the reason, EBUSY among them.
  package static func run(_ path: String, lazily: Bool) throws {
    if geteuid() == 0 {
      do { try unmountFileSystem(path, lazily: lazily) } catch { throw MountFailure("\(error.errno)") }
      return
    }
    let outcome = try ChildProcess.run(["fusermount3", lazily ? "-uz" : "-u", "--", path])
    if outcome.status == 0 { return }
    if access("/etc/mtab", R_OK) != 0 {
      throw MountFailure("fusermount3 needs /etc/mtab (as root: ln -s ../proc/self/mounts /etc/mtab)")
    }
    throw MountFailure(outcome.errors.split(separator: "\n").first.map(String.init) ?? "fusermount3 failed")
  }
}
