internal import Configuration
internal import Glibc
internal import MountService
internal import PosixKit

enum UnmountCommand: Command {
  static let usage = """
    podcastfs unmount [--lazy] [MOUNTPOINT]

    Unmounts ~/Podcasts, or MOUNTPOINT. Downloads continue. Where programs use the mount, it stays.

      --lazy   unmounts at once; programs keep what they have open until they close it
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let isLazy = arguments.takeFlag("--lazy", "-z")
    let operands = try arguments.operands()
    let mountPoint = try operands.first ?? MountPoint.usualPath()
    func failure(_ why: String) -> CommandFailure { CommandFailure("cannot unmount \(mountPoint): \(why)") }
    let path = MountPoint.absolutePath(mountPoint)
    if path == nil, !operands.isEmpty || Errno.current != .ENOENT { throw failure("\(Errno.current)") }
    guard let path, let mount = MountTable.mount(on: path) else {
      // What is so already is no failure.
      StandardStreams.report("podcastfs is not mounted on \(mountPoint)")
      return
    }
    guard mount.isOurs else { throw failure("podcastfs is not mounted there") }
    let isDemonstration = (try? Places()).map { MountOwner(of: path, places: $0) == .demonstration } ?? false
    // Called with the mount as its working directory it would be in the way itself.
    chdir("/")
    do {
      if isLazy { try Unmount.lazily(path) } else { try Unmount.now(path) }
    } catch {
      throw failure("\(error) (programs that use it: fuser -m \(path); --lazy unmounts all the same)")
    }
    if isDemonstration, !isLazy { try? DemoPlaces().waitUntilGone() }
  }
}
