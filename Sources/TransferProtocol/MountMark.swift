internal import Glibc
package import PosixKit

/// Tells the daemon of the processes that serve a mount, also of those that have not joined it yet: each has marked the
/// place of its own number in a file beside the daemon's lock.
package struct MountMark: ~Copyable, Sendable {
  private let file: FileDescriptor

  /// Marks this process as long as the value lives.
  package init(in state: String) throws(PosixError) {
    let file = try FileDescriptor(openingRegular: Self.file(in: state), O_RDWR | O_CREAT)
    try file.mark(Int64(getpid()))
    self.file = file
  }

  /// The processes that serve a mount.
  package static func processes(in state: String) -> Set<Int32> {
    guard let file = try? FileDescriptor(openingRegular: Self.file(in: state), O_RDWR) else { return [] }
    return Set(file.marks(in: 1..<largestNumber, limit: limit).map { Int32($0) })
  }

  private static func file(in state: String) -> String { state + "/transferd.mounts" }

  /// Numbers of processes are smaller (proc(5), pid_max).
  private static let largestNumber: Int64 = 1 << 22
  /// Nobody has more mounts.
  private static let limit = 256
}
