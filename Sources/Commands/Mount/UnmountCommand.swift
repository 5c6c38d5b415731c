internal import Configuration
internal import Glibc
internal import PosixKit

/// `podcastfs unmount`.
enum UnmountCommand: Command {
  static let name = "unmount"
  static let summary = "take a mount away"
  static let usage = """
    podcastfs unmount [--lazy] MOUNTPOINT

    Takes the mount away. Downloads go on. Where programs use the mount, they are named, and it stays.

      --lazy   take it away at once: programs that have something of it open keep that until they close it
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isLazy = arguments.takeFlag("--lazy", "-z")
    let operands = try arguments.operands()
    guard operands.count == 1 else { throw UsageError("unmount takes one mount point") }
    guard let path = MountPoint.absolutePath(operands[0]) else {
      throw CommandFailure("cannot unmount \(operands[0]): \(Errno.current)")
    }
    guard let mount = MountTable.mount(on: path), mount.isOurs else {
      throw CommandFailure("cannot unmount \(operands[0]): podcastfs is not mounted there")
    }
    // Called with the mount as its working directory it would be in the way itself.
    chdir("/")
    do {
      if isLazy { try Unmount.lazily(path) } else { try Unmount.now(path) }
    } catch {
      // Who uses it may be gone by now; then the reason as it was.
      let users = isLazy ? nil : MountUsers.text(of: path)
      let reason = users.map { "it is in use by \($0); end them, or use --lazy" } ?? "\(error)"
      throw CommandFailure("cannot unmount \(operands[0]): \(reason)")
    }
    guard let places = try? Places() else { return 0 }
    // A process that was killed could not do that.
    MountRecord.remove(device: mount.device, places: places)
    if !isLazy, let process = MountRecord.process(ofDevice: mount.device, places: places, leavesWithin: 2) {
      StandardStreams.complain(
        "\(operands[0]) is unmounted here, but \(MountUsers.elsewhere(mount.device)) has it still: "
          + "process \(process) serves it until that ends")
    }
    return 0
  }
}
