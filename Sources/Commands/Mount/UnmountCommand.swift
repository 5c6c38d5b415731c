internal import Glibc
internal import PosixKit

/// `podcastfs unmount`.
enum UnmountCommand: Command {
  static let name = "unmount"
  static let summary = "take a mount away"
  static let usage = """
    podcastfs unmount MOUNTPOINT

    Takes the mount away. Downloads go on.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let operands = try arguments.operands()
    guard operands.count == 1 else { throw UsageError("unmount takes one mount point") }
    guard let path = MountPoint.absolutePath(operands[0]) else {
      throw CommandFailure("cannot unmount \(operands[0]): \(Errno.current)")
    }
    guard MountTable.isOurs(path) else {
      throw CommandFailure("cannot unmount \(operands[0]): podcastfs is not mounted there")
    }
    do { try Unmount.now(path) } catch {
      throw CommandFailure("cannot unmount \(operands[0]): \(error)")
    }
    return 0
  }
}
