internal import PosixKit

/// Counts the kernel's requests by what they ask for and how they end. A process serves one mount.
package enum FuseMeter {
  package struct Key: Hashable, Sendable {
    /// By number (enum fuse_opcode of linux/fuse.h).
    let operation: UInt32
    /// 0 for a success.
    package let errno: Int32

    package var name: String { names[operation] ?? "other" }
  }

  private static let counts = Monitor<[Key: Int]>([:])

  static func count(_ operation: UInt32, _ errno: Int32) {
    counts.withLock { $0[Key(operation: operation, errno: errno), default: 0] += 1 }
  }

  package static var all: [(key: Key, count: Int)] {
    counts.withLock { $0.map { ($0.key, $0.value) } }.sorted {
      ($0.key.operation, $0.key.errno) < ($1.key.operation, $1.key.errno)
    }
  }

  private static let names: [UInt32: String] = [
    1: "lookup", 3: "getattr", 4: "setattr", 6: "symlink", 8: "mknod", 9: "mkdir", 10: "unlink", 11: "rmdir",
    12: "rename", 13: "link", 14: "open", 15: "read", 16: "write", 17: "statfs", 18: "release", 20: "fsync",
    21: "setxattr", 22: "getxattr", 23: "listxattr", 24: "removexattr", 25: "flush", 27: "opendir",
    28: "readdir", 29: "releasedir", 34: "access", 35: "create", 44: "readdirplus", 45: "rename2",
    46: "lseek",
  ]
}
