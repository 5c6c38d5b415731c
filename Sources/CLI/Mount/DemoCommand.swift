internal import Configuration
internal import Demo
internal import Glibc
internal import MountService
internal import PosixKit

enum DemoCommand: Command {
  static let name = "demo"
  static let summary = "try podcastfs without a network"
  static let worksOnMounts = false
  static let usage = """
    podcastfs demo [-f] [-o OPTIONS] [MOUNTPOINT]
    podcastfs demo -- COMMAND …

    Serves a small catalogue of podcasts from this machine, as slowly as a network would, and mounts podcastfs
    on MOUNTPOINT (~/Podcasts), which is made where it is missing. Every search finds in this catalogue only:
    try "harbour". It has a catalogue and a cache of its own, which go with the mount: podcastfs unmount MOUNTPOINT.
    While nothing else is mounted, the other commands work on the demonstration: podcastfs search harbour.

      -- COMMAND …  a command on the demonstration though something else is mounted too: demo -- status --watch
    """

  private static let backgroundFlag = "--background"

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    if arguments.words.first == "--" {
      let places = try DemoPlaces()
      guard places.areInUse else {
        throw CommandFailure("no demonstration is mounted: podcastfs demo mounts one")
      }
      places.enter()
      return CommandLineTool.run([ProgramArguments.name] + arguments.words.dropFirst())
    }
    var arguments = arguments
    let isBackground = arguments.takeFlag(backgroundFlag)
    let staysInForeground = arguments.takeFlag("-f", "--foreground")
    let words = arguments.words
    let options = try arguments.takeValues("-o")
    let operands = try arguments.operands()
    guard operands.count <= 1 else { throw UsageError("demo takes one mount point") }
    try MountRequest.prepareUser(options, mountPoint: nil)
    if !isBackground, try DemoPlaces().areInUse { throw DemoPlaces.inUse }
    let mountPoint = try operands.first ?? MountPoint.usualPath()
    if !isBackground { try MountPoint.make(mountPoint) }
    if !staysInForeground && !isBackground {
      if let failure = try BackgroundProcess.start([name, backgroundFlag] + words) {
        throw CommandFailure(failure)
      }
      StandardStreams.tell(
        "The demonstration is mounted on \(mountPoint). Try: mkdir \(mountPoint)/Search/harbour")
      return 0
    }
    let serve: (() -> Void) throws -> Int32 = { ready in try mount(on: mountPoint, options, ready) }
    return isBackground ? MountCommand.reporting(serve) : try serve({})
  }

  private static func mount(on mountPoint: String, _ options: [String], _ ready: () -> Void) throws -> Int32 {
    let places = try DemoPlaces()
    let lock = try places.begin()
    defer { places.end(lock) }
    var request = try MountRequest(source: nil, mountPoint: mountPoint, options: options)
    let catalogue = try DemoCatalogue()
    defer { catalogue.stop() }
    request.settings.searchURL = catalogue.searchURL
    // Its episodes are old and short.
    request.settings.latestDays = 0
    request.settings.playedMargin = 3
    try places.configure(searchURL: catalogue.searchURL)
    return try MountProcess(request).run(ready: ready)
  }
}
