internal import Glibc
internal import PosixKit

/// The directories of a mount that programs watch by inotify(7), as proc(5) shows them.
enum Watches {
  struct Found {
    /// Inode numbers: those of stat(2), or the kernel's own number of a node whose attributes it has not read.
    var inodes: Set<UInt64> = []
    /// Whether there are programs whose descriptors this process may not see.
    var isPartial = false
  }

  /// - Parameter device: the mount's, as the kernel numbers it: 12 bits of the major number before 20 of the minor.
  static func find(on device: UInt64) -> Found {
    var found = Found()
    for process in Processes.all() where process != getpid() {
      let folder = "/proc/\(process)"
      do throws(PosixError) {
        for name in try Directories.names(in: folder + "/fd")
        where Directories.linkTarget("\(folder)/fd/\(name)") == "anon_inode:inotify" {
          let bytes = (try? Directories.read("\(folder)/fdinfo/\(name)", limit: 1 << 20)) ?? []
          let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
          found.inodes.formUnion(lines.compactMap { inode($0, device: device) })
        }
      } catch {
        if [.EACCES, .EPERM].contains(error.errno) { found.isPartial = true }
      }
    }
    return found
  }

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
