internal import Configuration
internal import Demo
internal import PosixKit

/// `podcastfs demo`.
enum DemoCommand: Command {
  static let name = "demo"
  static let summary = "mount a small catalogue served from this machine: no network needed"
  static let usage = """
    podcastfs demo [-f] [-o OPTIONS] [MOUNTPOINT]

    Serves a small catalogue of podcasts from this machine, as slowly as a network would, and mounts podcastfs
    on MOUNTPOINT (~/Podcasts), which is made where it is missing. Every search finds in this catalogue only:
    try "harbour". Ends with the mount: podcastfs unmount MOUNTPOINT.
    """

  private static let backgroundFlag = "--background"

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isBackground = arguments.takeFlag(backgroundFlag)
    let staysInForeground = arguments.takeFlag("-f", "--foreground")
    if !staysInForeground && !isBackground {
      var rest = arguments
      try MountRequest.check(try rest.takeValues("-o"))
      let mountPoint = try arguments.demoMountPoint()
      if let failure = try BackgroundProcess.start([name, backgroundFlag] + arguments.words) {
        throw CommandFailure(failure)
      }
      StandardStreams.print(
        "The demonstration is mounted on \(mountPoint). Try: mkdir \(mountPoint)/Search/harbour")
      return 0
    }
    let options = try arguments.takeValues("-o")
    let mountPoint = try arguments.demoMountPoint()
    let serve: (() -> Void) throws -> Int32 = { ready in
      try Directories.create(mountPoint, mode: 0o755)
      var request = try MountRequest(source: nil, mountPoint: mountPoint, options: options)
      let catalogue = try DemoCatalogue()
      defer { catalogue.stop() }
      request.settings.searchURL = catalogue.searchURL
      return try MountProcess(request).run(ready: ready)
    }
    return isBackground ? MountCommand.reporting(serve) : try serve {}
  }
}

extension ArgumentList {
  /// The directory to mount the demonstration on.
  fileprivate func demoMountPoint() throws -> String {
    var rest = self
    _ = try rest.takeValues("-o")
    let operands = try rest.operands()
    guard operands.count <= 1 else { throw UsageError("demo takes one mount point") }
    if let mountPoint = operands.first { return mountPoint }
    guard let home = Places.processEnvironment["HOME"], home.hasPrefix("/") else {
      throw CommandFailure("no home directory: set HOME, or name a mount point")
    }
    return home + "/Podcasts"
  }
}
