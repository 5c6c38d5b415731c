internal import Glibc
internal import PosixKit

/// Which directories of a mount somebody watches by inotify(7), as proc(5) tells of the programs' descriptors.
enum Watches {
  struct Found {
    /// By the inode's number: what stat(2) shows, or the kernel's own for the node where it has not asked since.
    var inodes: Set<UInt64> = []
    /// Whether there are programs whose descriptors this process may not see.
    var isPartial = false
  }

  /// - Parameter device: the mount's, as the kernel numbers it: 12 bits of the major number before 20 of the minor.
  static func find(on device: UInt64) -> Found {
    var found = Found()
    let own = getpid()
    for name in (try? Directories.names(in: "/proc")) ?? [] {
      guard let process = Int32(name), process != own else { continue }
      let directory = "/proc/\(process)/fd"
      guard let descriptors = try? Directories.names(in: directory) else {
        if isRefused { found.isPartial = true }
        continue
      }
      for descriptor in descriptors {
        guard let target = Directories.linkTarget("\(directory)/\(descriptor)") else {
          if !isRefused { continue }
          // None of the others tells more.
          found.isPartial = true
          break
        }
        if target != "anon_inode:inotify" { continue }
        guard let bytes = try? Directories.read("/proc/\(process)/fdinfo/\(descriptor)", limit: 1 << 20)
        else {
          continue
        }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
          if let inode = inode(line, device: device) { found.inodes.insert(inode) }
        }
      }
    }
    return found
  }

  /// Whether the last call has failed because this process may not see what it asked for.
  private static var isRefused: Bool { Errno.current == .EACCES || Errno.current == .EPERM }

  /// "inotify wd:1 ino:9e7e sdev:800013 mask:800afce …": numbers in hexadecimal.
  private static func inode(_ line: Substring, device: UInt64) -> UInt64? {
    guard line.hasPrefix("inotify ") else { return nil }
    var inode: UInt64?
    for field in line.split(separator: " ") {
      if field.hasPrefix("ino:") { inode = UInt64(field.dropFirst(4), radix: 16) }
      if field.hasPrefix("sdev:"), UInt64(field.dropFirst(5), radix: 16) != device { return nil }
    }
    return inode
  }
}
