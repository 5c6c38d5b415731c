internal import Configuration
internal import Glibc
internal import MountHandover
internal import MountService
internal import PosixKit

extension Command {
  static let mount = Command(
    """
    podcastfs mount [-f] [-o OPTIONS] [MOUNTPOINT]
    mount -t podcastfs SOURCE MOUNTPOINT [-o OPTIONS]

    Mounts podcasts on an empty folder, ~/Podcasts by default, which it makes where it is missing.

      -f          stays in the foreground
      -o OPTIONS  options separated by commas; podcastfs help options lists the usual ones

    SOURCE is for mount(8) and fstab(5), and means nothing: none.
    """
  ) { try MountCall(&$0).run(isHelper: false) }

  static let unmount = Command(
    """
    podcastfs unmount [--lazy] [MOUNTPOINT]

    Unmounts ~/Podcasts, or MOUNTPOINT. Downloads continue. Where programs use the mount, it stays.

      --lazy   unmounts at once; programs keep what they have open until they close it
    """
  ) { arguments in
    let isLazy = arguments.takeFlag("--lazy", "-z")
    let operands = try arguments.operands()
    let mountPoint = try operands.first ?? MountPoint.usualPath()
    func failure(_ why: String) -> CommandFailure { CommandFailure("cannot unmount \(mountPoint): \(why)") }
    let path = MountPoint.absolutePath(mountPoint)
    if path == nil, !operands.isEmpty || Errno.current != .ENOENT { throw failure("\(Errno.current)") }
    guard let path, let mount = MountTable.mount(on: path) else {
      // What is so already is no failure.
      return StandardStreams.report("podcastfs is not mounted on \(mountPoint)")
    }
    guard mount.isOurs else { throw failure("podcastfs is not mounted there") }
    let isDemonstration = (try? Places()).map { MountOwner(of: path, places: $0) == .demonstration } ?? false
    // Called with the mount as its working directory it would be in the way itself.
    chdir("/")
    do { try Unmount.run(path, lazily: isLazy) } catch {
      throw failure("\(error) (programs that use it: fuser -m \(path); --lazy unmounts all the same)")
    }
    if isDemonstration, !isLazy { try? DemoPlaces().waitUntilGone() }
  }

  static let restart = Command(
    """
    podcastfs restart [MOUNTPOINT]
    podcastfs restart --all

    Lets the installed version serve the mount on ~/Podcasts, or MOUNTPOINT. Programs that use it notice nothing.

      --all   all your mounts; as root, those of all users. A mount that cannot be handed over stays as it is
    """
  ) { arguments in
    let isAll = arguments.takeFlag("--all")
    let operands = try arguments.operands()
    let places = try Places()
    // Found here, and not by a process that is to serve a mount already.
    try MountRequest.check([], places: places)
    if isAll, geteuid() == 0 {
      // Each starts the program at the path that it was started from itself.
      for process in MountServer.all(places: nil).compactMap(\.process) { kill(process, Signals.handOver) }
    } else if isAll {
      try MountServer.mountPoints(places: places).forEachReporting { mountPoint in
        try MountServer.find(mountPoint, places: places)?.handOver(places: places)
      }
    } else {
      let mountPoint = try operands.first ?? MountPoint.usualPath()
      func failure(_ why: String) -> CommandFailure { CommandFailure("cannot restart \(mountPoint): \(why)") }
      let path = MountPoint.absolutePath(mountPoint)
      guard let path, MountTable.isOurs(path) else { throw failure("podcastfs is not mounted there") }
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
    }
  }
}

struct MountCall {
  /// What the called process does for the mount.
  enum Role {
    /// Starts a process that serves, and waits until it is ready.
    case starter
    /// Is that process.
    case started
    /// Serves by itself (`-f`).
    case foreground
    /// Takes the mount over from a process that has ended.
    case successor
  }

  let role: Role
  /// The texts of all `-o`.
  let options: [String]
  /// nil for `~/Podcasts`.
  let mountPoint: String?
  private static let backgroundFlag = "--background"

  init(_ arguments: inout ArgumentList) throws {
    let staysInForeground = arguments.takeFlag("-f", "--foreground")
    let isInBackground = arguments.takeFlag(Self.backgroundFlag)
    role =
      arguments.takeFlag(Keeper.flag)
      ? .successor
      : isInBackground ? .started : staysInForeground ? .foreground : .starter
    options = try arguments.takeValues("-o")
    mountPoint = try arguments.operands().first
  }

  /// Does what mount(8) calls for: SOURCE MOUNTPOINT [-sfnv] [-N NAMESPACE] [-t TYPE] [-o OPTIONS].
  /// - Parameter arguments: the name that the program was called by first: `mount.podcastfs` may be a link to it. Where that
  ///   is a script, it puts "--helper" before the others, so that no SOURCE passes for a command.
  /// - Returns: false where the call is another one.
  static func runForMount(_ arguments: [String]) throws -> Bool {
    let isNamed = (arguments.first?.split(separator: "/").last ?? "").hasPrefix("mount.")
    let isHelper = arguments.dropFirst().first == "--helper"
    let words = arguments.dropFirst(isHelper ? 2 : 1)
    guard isHelper || isNamed, !words.isEmpty else { return false }
    var list = ArgumentList(Array(words.dropFirst()))
    let isFake = list.takeFlag("-f")
    // Verbose, no mtab, sloppy; the type, and a namespace that mount(8) has entered already.
    _ = list.takeFlag("-v", "-n", "-s")
    for value in ["-t", "-N"] { _ = try list.takeValue(value) }
    let call = try MountCall(&list)
    if isFake {
      Account.correctHome()
      try call.becomeUser()
      _ = try MountRequest(mountPoint: call.mountPoint ?? "", options: call.options)
    } else {
      guard try list.operands().count == 1 else { throw UsageError("mount takes one mount point") }
      try call.run(isHelper: true)
    }
    return true
  }

  /// Checks the options, and becomes the user whom `setuid` names.
  /// - Parameter mountPoint: which that user shall own where automount made it.
  func becomeUser(mountingOn mountPoint: String? = nil) throws {
    do { try MountRequest.prepareUser(options, mountPoint: mountPoint) } catch let error as SettingsError {
      throw UsageError("\(error)", topic: "options")
    }
  }

  fileprivate func run(isHelper: Bool) throws {
    if role == .successor { return try resume(on: mountPoint ?? "") }
    if isHelper { Account.correctHome() }
    try becomeUser(mountingOn: mountPoint)
    let mountPoint = try mountPoint ?? MountPoint.usual()
    if role == .started { return try Self.reporting { try serve(mountPoint, nil, $0) } }
    if try isServed(mountPoint) { return }
    if role == .foreground { return try serve(mountPoint, nil) {} }
    try Self.start("mount", options.flatMap { ["-o", $0] } + ["--", mountPoint])
    if !isHelper { greet(mountPoint) }
  }

  private func greet(_ mountPoint: String) {
    guard StandardStreams.outputIsTerminal else { return }
    let names = (try? Directories.names(in: mountPoint + "/Subscriptions")) ?? []
    let isNew = names.allSatisfy { $0 == "subscriptions.opml" }
    StandardStreams.report("Podcasts are mounted on \(mountPoint). Next:")
    for step in isNew ? ["search WORDS", "subscribe NUMBER"] : ["new", "status"] {
      StandardStreams.report("  podcastfs \(step)")
    }
  }

  private func serve(_ mountPoint: String, _ inheritance: InheritedMount?, _ ready: () -> Void) throws {
    let request = try MountRequest(mountPoint: mountPoint, options: options, isResumed: inheritance != nil)
    let next =
      [ProgramArguments.file, "podcastfs", "mount", Keeper.flag] + options.flatMap { ["-o", $0] }
      + ["--", request.mountPoint]
    try MountProcess(request, call: next, inheritance).run(ready: ready)
  }

  private func resume(on mountPoint: String) throws {
    let inheritance = try InheritedMount()
    do { try serve(mountPoint, inheritance) {} } catch {
      inheritance.memory.noteFailure()
      if let places = try? Places() {
        LogFile(places.logFile).write("cannot take over the mount on \(mountPoint): \(error)")
      }
      throw error
    }
  }

  /// Whether the user's own mount is there. Where another version of this program serves it, this one does from now on.
  private func isServed(_ mountPoint: String) throws -> Bool {
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
  static func start(_ command: String, _ words: [String]) throws {
    if let failure = try BackgroundProcess.start([command, backgroundFlag] + words) {
      throw CommandFailure(failure)
    }
  }

  static func reporting(_ body: (() -> Void) throws -> Void) throws {
    var readiness: BackgroundProcess.Readiness? = BackgroundProcess.Readiness()
    do { try body { readiness.take()?.ready() } } catch {
      readiness.take()?.failed("\(error)")
      throw CommandEnd()
    }
  }
}
