internal import Glibc
package import PosixKit

/// What a process takes over from the one that served the mount before.
package struct InheritedMount {
  package let connection: Int32
  package let memory: HandoverMemory
  /// The socket to the keeper.
  package let keeper: Int32

  /// The descriptors that the keeper hands on.
  /// - Throws: `PosixError` where there are none, or of another version.
  package init() throws(PosixError) {
    (connection, keeper) = (3, 5)
    let file: Int32 = 4
    for number in [connection, file, keeper] {
      guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
        throw PosixError(.EBADF, "take over a mount without podcastfs-keep")
      }
    }
    memory = try HandoverMemory(inherited: FileDescriptor(owning: file))
  }

  /// What ended the process before, as it is said after "has died"; nil where that went in order.
  package func takeDeath() -> String? {
    let fault = memory.takeFault()
    defer { memory[.handingOver] = 0 }
    return memory[.handingOver] == 1 ? nil : fault.map { " (\($0))" } ?? ""
  }
}
