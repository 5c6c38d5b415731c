internal import CLinux
internal import PosixKit

/// How long the kernel's requests have taken, by what they ask for, and how they have failed. A process serves one mount.
package enum FuseMeter {
  package struct Operation: Sendable {
    package let name: String
    /// Requests that took no longer than each of `bounds`, and all others.
    package var counts = [Int](repeating: 0, count: FuseMeter.bounds.count + 1)
    /// All of them together.
    package var nanoseconds: UInt64 = 0
    /// By number.
    package var errors: [Int32: Int] = [:]
  }

  /// In seconds.
  package static let bounds = [0.000_1, 0.001, 0.01, 0.1, 1, 10]

  private static let operations = Monitor<[UInt32: Operation]>([:])

  /// Those that there were, by name.
  package static var all: [Operation] {
    operations.withLock { Array($0.values) }.sorted { $0.name < $1.name }
  }

  /// One request, from when its handler is called to its reply.
  struct Measure: Sendable {
    private let operation = podcastfs_operation()
    private let start = MonotonicTime.now

    /// - Parameter errno: 0 for a success.
    func end(_ errno: Int32) {
      let nanoseconds = MonotonicTime.now.nanoseconds &- start.nanoseconds
      let seconds = Double(nanoseconds) / 1e9
      let place = FuseMeter.bounds.firstIndex { seconds <= $0 } ?? FuseMeter.bounds.count
      FuseMeter.operations.withLock { operations in
        operations[operation, default: Operation(name: names[operation] ?? "other")].count(
          place, nanoseconds, errno)
      }
    }
  }

  /// By number (enum fuse_opcode of linux/fuse.h).
  private static let names: [UInt32: String] = [
    1: "lookup", 3: "getattr", 4: "setattr", 5: "readlink", 6: "symlink", 8: "mknod", 9: "mkdir",
    10: "unlink",
    11: "rmdir", 12: "rename", 13: "link", 14: "open", 15: "read", 16: "write", 17: "statfs", 18: "release",
    20: "fsync", 21: "setxattr", 22: "getxattr", 23: "listxattr", 24: "removexattr", 25: "flush",
    27: "opendir",
    28: "readdir", 29: "releasedir", 30: "fsyncdir", 34: "access", 35: "create", 40: "poll", 43: "fallocate",
    44: "readdirplus", 45: "rename2", 46: "lseek", 47: "copy_file_range", 52: "statx",
  ]
}

extension FuseMeter.Operation {
  fileprivate mutating func count(_ place: Int, _ nanoseconds: UInt64, _ errno: Int32) {
    counts[place] += 1
    self.nanoseconds &+= nanoseconds
    if errno != 0 { errors[errno, default: 0] += 1 }
  }
}
