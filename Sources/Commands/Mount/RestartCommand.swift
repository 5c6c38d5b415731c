internal import Configuration
internal import Glibc
internal import MountHandover
internal import PosixKit

/// `podcastfs restart`.
enum RestartCommand: Command {
  static let name = "restart"
  static let summary = "let the installed version serve a mount"
  static let worksOnMounts = false
  static let usage = """
    podcastfs restart [MOUNTPOINT]
    podcastfs restart --all

    Lets this version of the program serve the mount on MOUNTPOINT (~/Podcasts). Programs that use it notice nothing:
    open files stay open, and reads that wait go on waiting.

      --all   every mount of this user, or of everybody, as root; a mount that cannot be handed over stays as it is
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isAll = arguments.takeFlag("--all")
    let operands = try arguments.operands()
    guard operands.count <= (isAll ? 0 : 1) else { throw UsageError("restart takes one mount point") }
    let places = try Places()
    // Found here, and not by a process that is to serve a mount already.
    try MountRequest.check([], places: places)
    if isAll { return try restartAll(places) }
    let mountPoint = try operands.first ?? MountPoint.usualPath()
    guard let path = MountPoint.absolutePath(mountPoint), MountTable.isOurs(path) else {
      throw CommandFailure("cannot restart \(mountPoint): podcastfs is not mounted there")
    }
    guard let record = MountRecord.find(path, places: places) else {
      if let stranger = MountOwner.stranger(at: path, places: places) {
        throw CommandFailure("cannot restart \(mountPoint): it is \(stranger)")
      }
      guard MountChecks.canKeep else {
        throw CommandFailure(
          "cannot restart \(mountPoint): handing it over takes Linux 6.9 (this is \(MountChecks.kernel))")
      }
      throw CommandFailure(
        "cannot restart \(mountPoint): its process has gone, or is of a version that cannot hand it over, or of another user"
      )
    }
    try record.handOver(to: MountCall(program: ProgramArguments.file, words: []), places: places)
    return 0
  }

  private static func restartAll(_ places: Places) throws -> Int32 {
    if geteuid() == 0 {
      for process in processes() { kill(process, Signals.handOver) }
      return 0
    }
    var status: Int32 = 0
    for record in MountRecord.all(places: places) where record.canHandOver {
      do {
        try record.handOver(to: MountCall(program: ProgramArguments.file, words: []), places: places)
      } catch {
        StandardStreams.complain("\(error)")
        status = 1
      }
    }
    return status
  }

  /// The processes that serve mounts, whoever's: each starts the program at the path that it was started from itself.
  private static func processes() -> [Int32] {
    ((try? Directories.names(in: "/proc")) ?? []).compactMap { Int32($0) }.filter { process in
      guard process != getpid(), let name = try? Directories.read("/proc/\(process)/comm"),
        name == Array("podcastfs\n".utf8), Signals.isTaken(Signals.handOver, by: process),
        let words = try? Directories.read("/proc/\(process)/cmdline")
      else { return false }
      let call = words.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      return call.contains { [MountCommand.name, HelperCall.flag].contains($0) }
    }
  }
}
