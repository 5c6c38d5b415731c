internal import Configuration
internal import Glibc
internal import PosixKit

/// `podcastfs unmount`.
enum UnmountCommand: Command {
  static let name = "unmount"
  static let summary = "unmount; downloads go on"
  static let worksOnMounts = false
  static let usage = """
    podcastfs unmount [--lazy] [MOUNTPOINT]

    Unmounts ~/Podcasts, or MOUNTPOINT. Downloads go on. A mount that programs use stays, and the programs are named.

      --lazy   unmount at once: programs that have something of it open keep that until they close it
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isLazy = arguments.takeFlag("--lazy", "-z")
    let operands = try arguments.operands()
    guard operands.count <= 1 else { throw UsageError("unmount takes one mount point") }
    let mountPoint = try operands.first ?? MountPoint.usualPath()
    guard let path = MountPoint.absolutePath(mountPoint) else {
      let reason = Errno.current
      if operands.isEmpty && reason == .ENOENT { return isNotMounted(mountPoint) }
      throw CommandFailure("cannot unmount \(mountPoint): \(reason)")
    }
    guard let mount = MountTable.mount(on: path) else { return isNotMounted(mountPoint) }
    guard mount.isOurs else {
      throw CommandFailure("cannot unmount \(mountPoint): podcastfs is not mounted there")
    }
    let demonstration = try? DemoPlaces()
    let isDemonstration = (try? Places()).map { MountOwner(of: path, places: $0) == .demonstration } ?? false
    // Called with the mount as its working directory it would be in the way itself.
    chdir("/")
    do {
      if isLazy { try Unmount.lazily(path) } else { try Unmount.now(path) }
    } catch {
      // Who uses it may be gone by now; then the reason as it was.
      let users = isLazy ? nil : MountUsers.text(of: path)
      let reason = users.map { "it is in use by \($0); end them, or use --lazy" } ?? "\(error)"
      throw CommandFailure("cannot unmount \(mountPoint): \(reason)")
    }
    guard let places = try? Places() else { return 0 }
    // A process that was killed could not do that.
    MountRecord.remove(device: mount.device, places: places)
    if !isLazy, let process = MountRecord.process(ofDevice: mount.device, places: places, leavesWithin: 2) {
      StandardStreams.complain(
        "\(mountPoint) is unmounted here, but \(MountUsers.elsewhere(mount.device)) has it still: "
          + "process \(process) serves it until that ends")
    }
    if isDemonstration && !isLazy { demonstration?.waitUntilGone() }
    return 0
  }

  /// What is so already is no failure.
  private static func isNotMounted(_ mountPoint: String) -> Int32 {
    StandardStreams.report("podcastfs is not mounted on \(mountPoint)")
    return 0
  }
}
