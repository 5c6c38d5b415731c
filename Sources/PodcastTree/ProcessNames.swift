internal import PosixKit

/// Tells which program a request comes from.
package enum ProcessNames {
  /// The name of the process that `thread` belongs to (its thread group's leader), at most 15 bytes; nil
  /// where it can't be told: it has ended, or lives in another pid namespace.
  package static func name(ofThread thread: Int32) -> String? {
    guard thread > 0, let status = try? Directories.read("/proc/\(thread)/status", limit: 4096),
      let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first(where: {
        $0.hasPrefix("Tgid:")
      }), let leader = Int32(line.dropFirst(5).filter(\.isNumber)),
      let name = try? Directories.read("/proc/\(leader)/comm", limit: 64)
    else { return nil }
    return String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
