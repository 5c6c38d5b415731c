internal import Glibc
internal import PosixKit

/// The kernel's list of mounts (proc(5), /proc/self/mountinfo).
enum MountTable {
  struct Mount {
    var mountPoint: String
    var type: String
  }

  /// The topmost mount on `path`; nil where there is none.
  static func mount(on path: String) -> Mount? {
    guard let bytes = try? Directories.read("/proc/self/mountinfo") else { return nil }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").last { line in
      mountPoint(of: line) == path
    }.flatMap { line in
      guard let separator = line.range(of: " - ") else { return nil }
      let type = line[separator.upperBound...].prefix { $0 != " " }
      return Mount(mountPoint: path, type: String(type))
    }
  }

  static func isOurs(_ path: String) -> Bool {
    mount(on: path).map { $0.type == "fuse.podcastfs" || $0.type == "fuse" } ?? false
  }

  private static func mountPoint(of line: Substring) -> String? {
    let fields = line.split(separator: " ", maxSplits: 5)
    return fields.count > 4 ? unescaped(fields[4]) : nil
  }

  /// Blanks and backslashes come as three octal digits.
  private static func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        bytes.append(value)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension StringProtocol {
  /// Where `text` first is.
  fileprivate func range(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
