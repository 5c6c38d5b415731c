internal import Configuration
internal import Glibc
internal import MountService
internal import PosixKit

enum RestartCommand: Command {
  static let usage = """
    podcastfs restart [MOUNTPOINT]
    podcastfs restart --all

    Lets the installed version serve the mount on ~/Podcasts, or MOUNTPOINT. Programs that use it notice nothing.

      --all   all your mounts; as root, those of all users. A mount that cannot be handed over stays as it is
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let isAll = arguments.takeFlag("--all")
    let operands = try arguments.operands()
    let places = try Places()
    // Found here, and not by a process that is to serve a mount already.
    try MountRequest.check([], places: places)
    if isAll { return try restartAll(places) }
    let mountPoint = try operands.first ?? MountPoint.usualPath()
    do { try restart(mountPoint, places) } catch {
      throw CommandFailure("cannot restart \(mountPoint): \(error)")
    }
  }

  private static func restart(_ mountPoint: String, _ places: Places) throws {
    guard let path = MountPoint.absolutePath(mountPoint), MountTable.isOurs(path) else {
      throw CommandFailure("podcastfs is not mounted there")
    }
    switch MountOwner(of: path, places: places) {
    case .demonstration:
      throw CommandFailure("a demonstration ends with its process: unmount it, then podcastfs demo")
    case .otherUser: throw CommandFailure("it is another user's mount")
    case .caller, nil: break
    }
    guard let server = MountServer.find(path, places: places), server.process != nil else {
      throw CommandFailure("its process has died, or its version cannot hand it over")
    }
    guard MachineChecks.canKeep else { throw CommandFailure("that needs Linux 6.9 or later") }
    try server.handOver(places: places)
  }

  private static func restartAll(_ places: Places) throws {
    if geteuid() == 0 {
      // Each starts the program at the path that it was started from itself.
      for server in MountServer.all(places: nil) {
        if let process = server.process { kill(process, Signals.handOver) }
      }
      return
    }
    try MountServer.mountPoints(places: places).forEachReporting { mountPoint in
      try MountServer.find(mountPoint, places: places)?.handOver(places: places)
    }
  }
}
