internal import Catalog
internal import Configuration
internal import Glibc
internal import MountHandover
internal import PosixKit

/// `podcastfs mount`, and the same as mount(8) calls it.
enum MountCommand: Command {
  static let name = "mount"
  static let summary = "mount podcasts on an empty directory"
  static let worksOnMounts = false
  static let usage = """
    podcastfs mount [-f] [-o OPTIONS] [MOUNTPOINT]
    mount -t podcastfs SOURCE MOUNTPOINT [-o OPTIONS]

    Mounts the podcasts on an empty directory, ~/Podcasts where none is named (it is made where it is missing), and
    returns when it can be listed.

      -f          stay in the foreground
      -o OPTIONS  a comma-separated list: the keys of the configuration file, and those of mount(8);
                  podcastfs help options explains them

    SOURCE, for mount(8) and fstab(5): none or podcastfs; anything else is searched for first, a feed's address or
    an OPML file is subscribed to.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isBackground = arguments.takeFlag(backgroundFlag)
    let isResumed = arguments.takeFlag(MountCall.flag)
    let staysInForeground = arguments.takeFlag("-f", "--foreground")
    let options = try arguments.takeValues("-o")
    let operands = try arguments.operands()
    guard operands.count <= 1 else { throw UsageError("mount takes one mount point") }
    if isResumed { return try resume(nil, on: operands.first ?? "", options) }
    try MountRequest.prepareUser(options, mountPoint: operands.first)
    return try mount(
      nil, on: try operands.first ?? MountPoint.usual(), options, isBackground: isBackground,
      staysInForeground: staysInForeground)
  }

  /// As mount(8) calls it.
  static func run(_ call: HelperCall) throws -> Int32 {
    var arguments = call.arguments
    let isBackground = arguments.takeFlag(backgroundFlag)
    let isResumed = arguments.takeFlag(MountCall.flag)
    let staysInForeground = arguments.takeFlag("--foreground")
    let isFake = arguments.takeFlag("-f")
    let options = try arguments.takeValues("-o")
    // Verbose, no mtab, sloppy; the type, and a namespace that mount(8) has entered already.
    for flag in ["-v", "-n", "-s"] { _ = arguments.takeFlag(flag) }
    for value in ["-t", "-N"] { _ = try arguments.takeValue(value) }
    let operands = try arguments.operands()
    guard operands.count == 1 else { throw UsageError("mount takes one mount point") }
    if isResumed { return try resume(call.source, on: operands[0], options) }
    Account.correctHome()
    try MountRequest.prepareUser(options, mountPoint: isFake ? nil : operands[0])
    if isFake {
      _ = try MountRequest(source: call.source, mountPoint: operands[0], options: options)
      return 0
    }
    return try mount(
      call.source ?? "none", on: operands[0], options, isBackground: isBackground,
      staysInForeground: staysInForeground)
  }

  /// - Parameter source: for calls of mount(8), what it calls the device.
  private static func mount(
    _ source: String?, on mountPoint: String, _ options: [String], isBackground: Bool, staysInForeground: Bool
  ) throws -> Int32 {
    if !isBackground, source.map({ ["none", "podcastfs"].contains($0) }) ?? true,
      let record = try living(mountPoint), !record.isOfOtherProgram, !record.isRevived
    {
      try MountRequest.check(options, places: try Places())
      let note = options.isEmpty ? "" : "; the options count when it is mounted again"
      StandardStreams.report("podcastfs is already mounted on \(mountPoint)\(note)")
      return 0
    }
    if !staysInForeground && !isBackground {
      if try replaces(source, mountPoint, options) { return 0 }
      // The process that was called ends when the mount can be listed, or with the reason why not.
      let call = source.map { [HelperCall.flag, $0] } ?? [name]
      let rest = [backgroundFlag] + options.flatMap { ["-o", $0] } + ["--", mountPoint]
      if let failure = try BackgroundProcess.start(call + rest) { throw CommandFailure(failure) }
      return 0
    }
    if !isBackground { return try serve(source, mountPoint, options, nil, ServiceManager.tellReady) }
    return reporting { ready in try serve(source, mountPoint, options, nil, ready) }
  }

  private static func serve(
    _ source: String?, _ mountPoint: String, _ options: [String], _ inheritance: InheritedMount?,
    _ ready: () -> Void
  ) throws -> Int32 {
    let request = try MountRequest(
      source: source, mountPoint: mountPoint, options: options, isResumed: inheritance != nil)
    let call = self.call(source, request.mountPoint, options)
    return try MountProcess(request, call: call, inheritance).run(ready: ready)
  }

  // MARK: The mount outlives its process

  /// How the next process is to be called.
  private static func call(_ source: String?, _ mountPoint: String, _ options: [String]) -> MountCall {
    let begin = source.map { [HelperCall.flag, $0] } ?? [name]
    return MountCall(
      program: ProgramArguments.file,
      words: begin + [MountCall.flag] + options.flatMap { ["-o", $0] } + ["--", mountPoint])
  }

  /// As the keeper calls it.
  private static func resume(_ source: String?, on mountPoint: String, _ options: [String]) throws -> Int32 {
    let inheritance = try InheritedMount()
    do {
      return try serve(source, mountPoint, options, inheritance, {})
    } catch {
      inheritance.memory.noteFailure()
      (try? Places()).map {
        LogFile($0.logFile).write("cannot take over the mount on \(mountPoint): \(error)")
      }
      throw error
    }
  }

  /// Has a mount that another version of this program serves handed over to this one, with these options; also one whose
  /// process has died since it was mounted: who mounts it again is not to care whether another one has taken its place.
  /// - Returns: false where there is none.
  private static func replaces(_ source: String?, _ mountPoint: String, _ options: [String]) throws -> Bool {
    guard let record = try living(mountPoint) else { return false }
    let (places, path) = (try Places(), record.mountPoint)
    // What is wrong with the options is found here, and not when the mount has no process any more.
    try MountRequest.check(options, places: places)
    var call = self.call(source, path, options)
    call.environment = Places.processEnvironment.map { "\($0.key)=\($0.value)" }.sorted()
    try record.handOver(to: call, places: places)
    return true
  }

  /// The user's own mount that answers there.
  private static func living(_ mountPoint: String) throws -> MountRecord? {
    let places = try Places()
    return MountPoint.absolutePath(mountPoint).flatMap { MountRecord.findLiving($0, places: places) }
  }

  /// Marks the process that stays when the one that was called has ended.
  private static let backgroundFlag = "--background"

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
