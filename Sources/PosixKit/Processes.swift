internal import Glibc

/// Other processes, as far as this user may see them (proc(5)).
package enum Processes {
  /// Those of all programs, or of programs with these names, by their numbers.
  package static func all(named names: Set<String>? = nil) -> [Int32] {
    let numbers = ((try? Directories.names(in: "/proc")) ?? []).compactMap { Int32($0) }.sorted()
    guard let names else { return numbers }
    return numbers.filter { names.contains(name(of: $0)) }
  }

  /// At most 15 bytes of it; empty where there is no such process.
  package static func name(of process: Int32) -> String {
    let bytes = (try? Directories.read("/proc/\(process)/comm")) ?? []
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  package static func arguments(of process: Int32) -> [String] {
    let bytes = (try? Directories.read("/proc/\(process)/cmdline")) ?? []
    return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// What it has open: paths of links in proc(5), and what they lead to.
  package static func openFiles(of process: Int32) -> [(link: String, target: String)] {
    let folder = "/proc/\(process)/fd"
    return ((try? Directories.names(in: folder)) ?? []).compactMap { name in
      Directories.linkTarget("\(folder)/\(name)").map { ("\(folder)/\(name)", $0) }
    }
  }

  /// Whether a process runs the very file at `path`.
  package static func isRunning(_ path: String, in process: Int32) -> Bool {
    var (own, its) = (stat(), stat())
    guard stat(path, &own) == 0, stat("/proc/\(process)/exe", &its) == 0 else { return false }
    return own.st_dev == its.st_dev && own.st_ino == its.st_ino
  }
}
