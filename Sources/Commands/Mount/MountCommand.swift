internal import Catalog
internal import Configuration
internal import Glibc
internal import PosixKit

/// `podcastfs mount`, and the same as mount(8) calls it.
enum MountCommand: Command {
  static let name = "mount"
  static let summary = "mount podcasts on an empty directory"
  static let usage = """
    podcastfs mount [-f] [-o OPTIONS] MOUNTPOINT
    podcastfs SOURCE MOUNTPOINT [-o OPTIONS]

    Mounts the podcasts on an empty directory and returns when it can be listed.

      -f          stay in the foreground
      -o OPTIONS  a comma-separated list; the keys of the configuration file, and those of mount(8)

    SOURCE, as mount(8) gives it: none or podcastfs; anything else is searched for first, a feed's
    address or an OPML file is subscribed to.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    try run(source: nil, arguments)
  }

  /// - Parameter source: what mount(8) calls the device.
  static func run(source: String?, _ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isBackground = arguments.takeFlag(backgroundFlag)
    let staysInForeground = arguments.takeFlag("-f", "--foreground")
    let options = try arguments.takeValues("-o")
    // What mount(8) passes to every helper: verbose, no mtab, sloppy.
    _ = arguments.takeFlag("-v")
    _ = arguments.takeFlag("-n")
    _ = arguments.takeFlag("-s")
    let operands = try arguments.operands()
    guard operands.count == 1 else { throw UsageError("mount takes one mount point") }
    try MountRequest.check(options)
    if !staysInForeground && !isBackground {
      return try start(source, options.flatMap { ["-o", $0] } + ["--"] + operands)
    }
    let mount = { try MountRequest(source: source, mountPoint: operands[0], options: options) }
    if !isBackground { return try MountProcess(try mount()).run {} }
    return reporting { ready in try MountProcess(try mount()).run(ready: ready) }
  }

  /// Marks the process that stays when the one that was called has ended.
  private static let backgroundFlag = "--background"

  /// The process that was called ends when the mount can be listed, or with the reason why not.
  private static func start(_ source: String?, _ arguments: [String]) throws -> Int32 {
    let call = source.map { [$0] } ?? [name]
    if let failure = try BackgroundProcess.start(call + [backgroundFlag] + arguments) {
      throw CommandFailure(failure)
    }
    return 0
  }

  /// Runs `body` and tells the process that was called how it went.
  static func reporting(_ body: (() -> Void) throws -> Int32) -> Int32 {
    var readiness: BackgroundProcess.Readiness? = BackgroundProcess.Readiness()
    do {
      return try body { readiness.take()?.ready() }
    } catch {
      readiness.take()?.failed("\(error)")
      return 1
    }
  }
}
