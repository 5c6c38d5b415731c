internal import Configuration
internal import Glibc
internal import MountHandover
internal import MountService
internal import PosixKit

/// `podcastfs mount`, and the same as mount(8) calls it.
enum MountCommand: Command {
  static let usage = """
    podcastfs mount [-f] [-o OPTIONS] [MOUNTPOINT]
    mount -t podcastfs SOURCE MOUNTPOINT [-o OPTIONS]

    Mounts podcasts on an empty folder, ~/Podcasts by default, which it makes where it is missing.

      -f          stays in the foreground
      -o OPTIONS  options separated by commas; podcastfs help options lists them

    SOURCE is for mount(8) and fstab(5), and means nothing: none.
    """

  static func run(_ arguments: inout ArgumentList) throws { try run(&arguments, isHelper: false) }

  static func run(_ call: HelperCall) throws {
    var arguments = call.arguments
    let isFake = arguments.takeFlag("-f")
    // Verbose, no mtab, sloppy; the type, and a namespace that mount(8) has entered already.
    for flag in ["-v", "-n", "-s"] { _ = arguments.takeFlag(flag) }
    for value in ["-t", "-N"] { _ = try arguments.takeValue(value) }
    if !isFake { return try run(&arguments, isHelper: true) }
    let options = try arguments.takeValues("-o")
    try MountRequest.prepareUser(options, mountPoint: nil)
    _ = try MountRequest(mountPoint: arguments.operands().first ?? "", options: options)
  }

  /// - Parameter isHelper: whether mount(8) calls.
  private static func run(_ arguments: inout ArgumentList, isHelper: Bool) throws {
    let isResumed = arguments.takeFlag(Keeper.flag)
    let start = BackgroundProcess.Call(&arguments)
    let options = try arguments.takeValues("-o")
    let operands = try arguments.operands()
    if isHelper, operands.count != 1 { throw UsageError("mount takes one mount point") }
    if isResumed { return try resume(on: operands.first ?? "", options) }
    if isHelper { Account.correctHome() }
    try MountRequest.prepareUser(options, mountPoint: operands.first)
    let mountPoint = try operands.first ?? MountPoint.usual()
    if start == .inBackground { return try reporting { try serve(mountPoint, options, nil, $0) } }
    if try isServed(mountPoint, options) { return }
    if start == .inForeground { return try serve(mountPoint, options, nil) {} }
    try startInBackground([name], options.flatMap { ["-o", $0] } + ["--", mountPoint])
    if !isHelper { greet(mountPoint) }
  }

  /// Says to a person where the podcasts are, and what to do next.
  private static func greet(_ mountPoint: String) {
    guard StandardStreams.outputIsTerminal else { return }
    let names = (try? Directories.names(in: mountPoint + "/Subscriptions")) ?? []
    let isNew = names.allSatisfy { $0 == "subscriptions.opml" }
    StandardStreams.report("Podcasts are mounted on \(mountPoint). Next:")
    for step in isNew ? ["search WORDS", "subscribe NUMBER"] : ["new", "status"] {
      StandardStreams.report("  podcastfs \(step)")
    }
  }

  private static func serve(
    _ mountPoint: String, _ options: [String], _ inheritance: InheritedMount?, _ ready: () -> Void
  ) throws {
    let request = try MountRequest(
      mountPoint: mountPoint, options: options, isResumed: inheritance != nil)
    let call =
      [ProgramArguments.file, "podcastfs", name, Keeper.flag] + options.flatMap { ["-o", $0] }
      + ["--", request.mountPoint]
    try MountProcess(request, call: call, inheritance).run(ready: ready)
  }

  private static func resume(on mountPoint: String, _ options: [String]) throws {
    let inheritance = try InheritedMount()
    do { try serve(mountPoint, options, inheritance) {} } catch {
      inheritance.memory.noteFailure()
      if let places = try? Places() {
        LogFile(places.logFile).write("cannot take over the mount on \(mountPoint): \(error)")
      }
      throw error
    }
  }

  /// Whether the user's own mount is there. Where another version of this program serves it, this one does from now on.
  private static func isServed(_ mountPoint: String, _ options: [String]) throws -> Bool {
    let places = try Places()
    guard let path = MountPoint.absolutePath(mountPoint),
      let server = MountServer.findLiving(path, places: places), let process = server.process
    else { return false }
    try MountRequest.check(options, places: places)
    if MachineChecks.canKeep, !Processes.isRunning("/proc/self/exe", in: process) {
      try server.handOver(places: places)
    }
    let note = options.isEmpty ? "" : "; the options take effect when it is mounted again"
    StandardStreams.report("podcastfs is already mounted on \(mountPoint)\(note)")
    return true
  }

  /// Starts the process that serves. The one that was called ends when the mount can be listed, or with the reason why not.
  static func startInBackground(_ name: [String], _ words: [String]) throws {
    if let failure = try BackgroundProcess.start(name + [BackgroundProcess.Call.flag] + words) {
      throw CommandFailure(failure)
    }
  }

  /// Runs `body` and tells the process that was called how it went.
  static func reporting(_ body: (() -> Void) throws -> Void) throws {
    var readiness: BackgroundProcess.Readiness? = BackgroundProcess.Readiness()
    do { try body { readiness.take()?.ready() } } catch {
      readiness.take()?.failed("\(error)")
      throw CommandEnd()
    }
  }
}

extension BackgroundProcess {
  /// Where a call serves a mount: in a process that it starts, in that process, or itself.
  enum Call {
    case startsOne, inBackground, inForeground

    static let flag = "--background"

    init(_ arguments: inout ArgumentList) {
      let staysInForeground = arguments.takeFlag("-f", "--foreground")
      self = arguments.takeFlag(Self.flag) ? .inBackground : staysInForeground ? .inForeground : .startsOne
    }
  }
}

/// A call as mount(8) makes it: SOURCE MOUNTPOINT [-sfnv] [-N NAMESPACE] [-t TYPE] [-o OPTIONS].
struct HelperCall {
  var arguments: ArgumentList

  /// What `mount.podcastfs` puts before a call, so that no SOURCE passes for a command.
  static let flag = "--helper"

  /// nil where it is none.
  /// - Parameters:
  ///   - program: the name that the program was called by; `mount.podcastfs` may be a link to it.
  ///   - words: the arguments behind it.
  init?(program: String, _ words: [String]) {
    let isHelper = words.first == Self.flag
    var words = words.dropFirst(isHelper ? 1 : 0)
    let isNamed = (program.split(separator: "/").last ?? "").hasPrefix("mount.")
    guard isHelper || isNamed, words.popFirst() != nil else { return nil }
    arguments = ArgumentList(Array(words))
  }
}
