internal import Configuration
internal import Demo
internal import MountService
internal import PosixKit

enum DemoCommand: Command {
  static let name = "demo"
  static let summary = "try podcastfs without a network"
  static let worksOnMounts = false
  static let usage = """
    podcastfs demo [-f] [-o OPTIONS] [MOUNTPOINT]

    Mounts a small catalogue of podcasts that needs no network, on ~/Podcasts or MOUNTPOINT. Its downloads are slow, so that
    you can watch them. Search for harbour. While nothing else is mounted, all commands work on the demonstration. podcastfs unmount removes all of
    it.
    """

  private static let backgroundFlag = "--background"

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isBackground = arguments.takeFlag(backgroundFlag)
    let staysInForeground = arguments.takeFlag("-f", "--foreground")
    let words = arguments.words
    let options = try arguments.takeValues("-o")
    let operands = try arguments.operands(...1, "demo takes one mount point")
    try MountRequest.prepareUser(options, mountPoint: nil)
    let mountPoint = try operands.first ?? MountPoint.usualPath()
    if !isBackground, let other = try DemoPlaces().living() {
      guard MountPoint.absolutePath(mountPoint) == other else {
        throw CommandFailure("the demonstration is already mounted on \(other): podcastfs unmount \(other)")
      }
      StandardStreams.report("The demonstration is already mounted on \(mountPoint)")
      return 0
    }
    if !isBackground {
      if operands.isEmpty { _ = try MountPoint.usual() } else { try MountPoint.make(mountPoint) }
    }
    if !staysInForeground && !isBackground {
      if let failure = try BackgroundProcess.start([name, backgroundFlag] + words) {
        throw CommandFailure(failure)
      }
      StandardStreams.report("The demonstration is mounted on \(mountPoint). Try:")
      StandardStreams.report("  mkdir \(mountPoint)/Search/harbour")
      return 0
    }
    let serve: (() -> Void) throws -> Int32 = { ready in try mount(on: mountPoint, options, ready) }
    return isBackground ? MountCommand.reporting(serve) : try serve({})
  }

  private static func mount(on mountPoint: String, _ options: [String], _ ready: () -> Void) throws -> Int32 {
    let places = try DemoPlaces()
    let lock = try places.begin()
    defer { places.end(lock) }
    let catalogue = try DemoCatalogue()
    defer { catalogue.stop() }
    try places.configure(searchURL: catalogue.searchURL)
    let request = try MountRequest(mountPoint: mountPoint, options: options)
    return try MountProcess(request).run(ready: ready)
  }
}
