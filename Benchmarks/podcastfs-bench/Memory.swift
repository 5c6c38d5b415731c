internal import Glibc
internal import PosixKit

/// Resident memory of this process, from /proc (proc(5)).
enum Memory {
  /// In bytes.
  static func now() -> Int { field("VmRSS:") }

  /// The most since the start or the last reset, in bytes.
  static func peak() -> Int { field("VmHWM:") }

  static func resetPeak() {
    guard let file = try? FileDescriptor(opening: "/proc/self/clear_refs", O_WRONLY) else { return }
    let five = Array("5".utf8)
    try? five.withUnsafeBytes { try file.append($0) }
  }

  private static func field(_ name: String) -> Int {
    guard let file = try? FileDescriptor(opening: "/proc/self/status", O_RDONLY) else { return 0 }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 8)
    defer { buffer.deallocate() }
    guard let count = try? file.read(into: buffer, at: 0) else { return 0 }
    let text = String(decoding: buffer[..<count], as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    let digits = line?.filter(\.isNumber) ?? ""
    return (Int(digits) ?? 0) * 1024
  }
}
