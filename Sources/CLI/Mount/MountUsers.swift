internal import Configuration
internal import Glibc
internal import MountService
internal import PodcastModel
internal import PosixKit

/// The processes that keep a mount from being unmounted, as far as this user may see them (proc(5)).
enum MountUsers {
  /// "mpv (1234), bash (567) and 3 more"; nil where none can be seen.
  static func text(of mountPoint: String) -> String? {
    // This process may have inherited open files of its shell.
    let users = Processes.all().filter { $0 != getpid() && uses(mountPoint, $0) }
    if users.isEmpty { return nil }
    let named = users.prefix(shown).map { name(of: $0) }.joined(separator: ", ")
    return users.count > shown ? "\(named) and \(users.count - shown) more" : named
  }

  private static let shown = 5

  private static func name(of process: Int32) -> String {
    "\(PrintableText.line(Processes.name(of: process))) (\(process))"
  }

  /// By the kernel's names of a process's open files: the mount itself gets no request.
  private static func uses(_ mountPoint: String, _ process: Int32) -> Bool {
    func isWithin(_ path: some StringProtocol) -> Bool {
      path == mountPoint || path.hasPrefix(mountPoint + "/")
    }
    let places = ["cwd", "root"].compactMap { Directories.linkTarget("/proc/\(process)/\($0)") }
    if (places + Processes.openFiles(of: process).map(\.target)).contains(where: isWithin) { return true }
    // Addresses, permissions, offset, device, inode, path.
    guard let maps = try? Directories.read("/proc/\(process)/maps") else { return false }
    return maps.split(separator: UInt8(ascii: "\n")).contains { line in
      guard let slash = line.firstIndex(of: UInt8(ascii: "/")) else { return false }
      return isWithin(String(decoding: line[slash...], as: UTF8.self))
    }
  }
}

enum MountOwner {
  /// The caller's, with the catalogue and the cache of this call; also where nothing tells.
  case caller
  case otherUser
  case demonstration

  /// nil where the path is in no mount of podcastfs.
  init?(of path: String, places: Places) {
    guard let path = MountPoint.absolutePath(path), let mount = MountTable.mount(holding: path), mount.isOurs
    else { return nil }
    if MountServer.find(mount.mountPoint, places: places) != nil {
      self = .caller
    } else if let user = mount.user, user != geteuid() {
      self = .otherUser
    } else {
      self = (try? DemoPlaces())?.areInUse ?? false ? .demonstration : .caller
    }
  }

  /// Says whose mount is at `path`, where it is not the caller's own: "another user's mount" or "the demonstration's
  /// mount". Nil for the caller's own mount, and where none of podcastfs is.
  static func stranger(at path: String, places: Places) -> String? {
    switch MountOwner(of: path, places: places) {
    case .caller, nil: nil
    case .otherUser: "another user's mount"
    case .demonstration: "the demonstration's mount"
    }
  }
}
