internal import Glibc
internal import PodcastModel
internal import PosixKit

/// The processes that keep a mount from being taken away, as far as this user may see them (proc(5)).
enum MountUsers {
  /// "mpv (1234), bash (567) and 3 more"; nil where none can be seen.
  static func text(of mountPoint: String) -> String? {
    let users = all(of: mountPoint)
    if users.isEmpty { return nil }
    let named = users.prefix(shown).joined(separator: ", ")
    return users.count > shown ? "\(named) and \(users.count - shown) more" : named
  }

  private static let shown = 5

  /// Who has a mount of another mount namespace that this one no longer has, in words.
  /// - Parameter device: the mount's, as in mountinfo.
  static func elsewhere(_ device: String) -> String {
    let process = ((try? Directories.names(in: "/proc")) ?? []).compactMap { Int32($0) }.sorted().first {
      process in
      guard let bytes = try? Directories.read("/proc/\(process)/mountinfo") else { return false }
      return MountTable.all(in: bytes).contains { $0.isOurs && $0.device == device }
    }
    let place = "another mount namespace (a container)"
    return process.map { "\(name(of: $0)) in \(place)" } ?? place
  }

  private static func name(of process: Int32) -> String {
    let name = (try? Directories.read("/proc/\(process)/comm")) ?? []
    return "\(PrintableText.line(String(decoding: name, as: UTF8.self))) (\(process))"
  }

  private static func all(of mountPoint: String) -> [String] {
    let processes = ((try? Directories.names(in: "/proc")) ?? []).compactMap { Int32($0) }
      // This one may have inherited what its shell has open.
      .filter { $0 != getpid() }.sorted()
    return processes.filter { uses(mountPoint, "/proc/\($0)") }.map { name(of: $0) }
  }

  /// By the kernel's names of what a process has open: nothing of the mount itself is asked.
  private static func uses(_ mountPoint: String, _ process: String) -> Bool {
    func isWithin(_ path: some StringProtocol) -> Bool {
      path.hasPrefix(mountPoint) && (path.count == mountPoint.count || path.hasPrefix(mountPoint + "/"))
    }
    let open = ((try? Directories.names(in: process + "/fd")) ?? []).map { "\(process)/fd/\($0)" }
    for link in ["\(process)/cwd", "\(process)/root"] + open {
      if let path = Directories.linkTarget(link), isWithin(path) { return true }
    }
    // Addresses, permissions, offset, device, inode, path.
    guard let maps = try? Directories.read(process + "/maps") else { return false }
    return maps.split(separator: UInt8(ascii: "\n")).contains { line in
      guard let slash = line.firstIndex(of: UInt8(ascii: "/")) else { return false }
      return isWithin(String(decoding: line[slash...], as: UTF8.self))
    }
  }
}
