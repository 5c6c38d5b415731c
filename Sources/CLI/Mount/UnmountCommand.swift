internal import Configuration
internal import Glibc
internal import MountService
internal import PosixKit

enum UnmountCommand: Command {
  static let name = "unmount"
  static let summary = "unmount; downloads continue"
  static let worksOnMounts = false
  static let usage = """
    podcastfs unmount [--lazy] [MOUNTPOINT]

    Unmounts ~/Podcasts, or MOUNTPOINT. Downloads continue. Where programs use the mount, it stays, and the command names them.

      --lazy   unmounts at once; programs keep what they have open until they close it
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isLazy = arguments.takeFlag("--lazy", "-z")
    let operands = try arguments.operands(...1, "unmount takes one mount point")
    let mountPoint = try operands.first ?? MountPoint.usualPath()
    func failure(_ why: String) -> CommandFailure { CommandFailure("cannot unmount \(mountPoint): \(why)") }
    let path = MountPoint.absolutePath(mountPoint)
    if path == nil, !operands.isEmpty || Errno.current != .ENOENT { throw failure("\(Errno.current)") }
    guard let path, let mount = MountTable.mount(on: path) else {
      // What is so already is no failure.
      StandardStreams.report("podcastfs is not mounted on \(mountPoint)")
      return 0
    }
    guard mount.isOurs else { throw failure("podcastfs is not mounted there") }
    let isDemonstration = (try? Places()).map { MountOwner(of: path, places: $0) == .demonstration } ?? false
    // Called with the mount as its working directory it would be in the way itself.
    chdir("/")
    do {
      if isLazy { try Unmount.lazily(path) } else { try Unmount.now(path) }
    } catch {
      // Who uses it may be gone by now; then the reason as it was.
      let users = isLazy ? nil : MountUsers.text(of: path)
      throw failure(users.map { "it is in use by \($0); end them, or use --lazy" } ?? "\(error)")
    }
    if isDemonstration, !isLazy { try? DemoPlaces().waitUntilGone() }
    return 0
  }
}
