internal import Configuration
internal import Glibc
internal import MountService
internal import PosixKit

enum RestartCommand: Command {
  static let name = "restart"
  static let summary = "let the installed version serve a mount"
  static let worksOnMounts = false
  static let usage = """
    podcastfs restart [MOUNTPOINT]
    podcastfs restart --all

    Lets the installed version serve the mount on ~/Podcasts, or MOUNTPOINT. Programs that use it notice nothing.

      --all   all your mounts; as root, those of all users. A mount that cannot be handed over stays as it is
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isAll = arguments.takeFlag("--all")
    let operands = try arguments.operands()
    guard operands.count <= (isAll ? 0 : 1) else { throw UsageError("restart takes one mount point") }
    let places = try Places()
    // Found here, and not by a process that is to serve a mount already.
    try MountRequest.check([], places: places)
    if isAll { return restartAll(places) }
    let mountPoint = try operands.first ?? MountPoint.usualPath()
    func failure(_ why: String) -> CommandFailure { CommandFailure("cannot restart \(mountPoint): \(why)") }
    guard let path = MountPoint.absolutePath(mountPoint), MountTable.isOurs(path) else {
      throw failure("podcastfs is not mounted there")
    }
    switch MountOwner(of: path, places: places) {
    case .demonstration:
      throw failure("a demonstration ends with its process: unmount it, then podcastfs demo")
    case .otherUser: throw failure("it is another user's mount")
    case .caller, nil: break
    }
    guard let server = MountServer.find(path, places: places), server.process != nil else {
      throw failure("its process has died, or its version cannot hand it over")
    }
    guard MachineChecks.canKeep else { throw failure("that needs Linux 6.9 or later") }
    do { try server.handOver(places: places) } catch { throw failure("\(error)") }
    return 0
  }

  private static func restartAll(_ places: Places) -> Int32 {
    if geteuid() == 0 {
      // Each starts the program at the path that it was started from itself.
      for server in MountServer.all(places: nil) {
        if let process = server.process { kill(process, Signals.handOver) }
      }
      return 0
    }
    return MountServer.mountPoints(places: places).forEachReporting { mountPoint in
      try MountServer.find(mountPoint, places: places)?.handOver(places: places)
    }
  }
}
