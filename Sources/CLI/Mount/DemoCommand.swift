internal import Configuration
internal import Demo
internal import MountService
internal import PosixKit

enum DemoCommand: Command {
  static let usage = """
    podcastfs demo [-f] [-o OPTIONS] [MOUNTPOINT]

    Mounts a small catalogue of podcasts that needs no network, on ~/Podcasts or MOUNTPOINT. Its downloads are slow, so that
    you can watch them. Search for harbour. While nothing else is mounted, all commands work on the demonstration. podcastfs unmount removes all of
    it.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let start = BackgroundProcess.Call(&arguments)
    let words = arguments.words
    let options = try arguments.takeValues("-o")
    let operands = try arguments.operands()
    try MountRequest.prepareUser(options, mountPoint: nil)
    let mountPoint = try operands.first ?? MountPoint.usualPath()
    if start == .inBackground { return try MountCommand.reporting { try mount(on: mountPoint, options, $0) } }
    if let other = try DemoPlaces().living() {
      guard MountPoint.absolutePath(mountPoint) == other else {
        throw CommandFailure("the demonstration is already mounted on \(other): podcastfs unmount \(other)")
      }
      return StandardStreams.report("The demonstration is already mounted on \(mountPoint)")
    }
    if operands.isEmpty { _ = try MountPoint.usual() } else { try MountPoint.make(mountPoint) }
    if start == .inForeground { return try mount(on: mountPoint, options) {} }
    try MountCommand.startInBackground([name], words)
    StandardStreams.report("The demonstration is mounted on \(mountPoint). Try:")
    StandardStreams.report("  mkdir \(mountPoint)/Search/harbour")
  }

  private static func mount(on mountPoint: String, _ options: [String], _ ready: () -> Void) throws {
    let places = try DemoPlaces()
    let lock = try places.begin()
    defer { places.end(lock) }
    let catalogue = try DemoCatalogue()
    defer { catalogue.stop() }
    try places.configure(searchURL: catalogue.searchURL)
    let request = try MountRequest(mountPoint: mountPoint, options: options)
    try MountProcess(request).run(ready: ready)
  }
}
