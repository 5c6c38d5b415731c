internal import Configuration
internal import Glibc
internal import MountHandover
internal import PosixKit

/// What other programs of the user find out of a mount that is served: which process does, and how to ask it to hand over.
/// A file in the runtime directory, named after the mount's device.
struct MountRecord {
  let process: Int32
  /// When it started, in the system's ticks (proc_pid_stat(5)): another process may get its number.
  let started: String
  /// Whether it took the place of one that died, and nobody has asked for it.
  let isRevived: Bool
  let mountPoint: String
  private let file: String
  /// The mount's device number, as in mountinfo.
  var device: String { String((file.split(separator: "/").last ?? "").map { $0 == "-" ? ":" : $0 }) }

  // MARK: The process that serves

  /// Writes the calling process's.
  static func write(_ mountPoint: String, device: String, isRevived: Bool, places: Places) throws {
    try Directories.createPrivate(directory(places))
    clear(places, except: mountPoint)
    let text =
      "\(getpid())\n\(startTime(getpid()) ?? "")\n\(isRevived ? revived : "called")\n\(mountPoint)\n"
    try Directories.replace(path(device, places), with: Array(text.utf8), outlivesPower: false)
  }

  /// The mount has gone: its process is the calling one, or has died. Another mount may have its number by now.
  static func remove(device: String, places: Places) {
    guard read(path(device, places)).map({ $0.process == getpid() }) ?? true else { return }
    for ending in ["", callEnding] { unlink(path(device, places) + ending) }
  }

  /// The call that somebody has left for it; nil where none is there. Taken away.
  static func takeCall(device: String, places: Places) -> MountCall? {
    let path = path(device, places) + callEnding
    defer { unlink(path) }
    return read(call: path)
  }

  private static func read(call path: String) -> MountCall? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_uid == geteuid(),
      let bytes = try? Directories.readRegular(path, limit: 1 << 20)
    else { return nil }
    return MountCall(text: bytes)
  }

  /// Mounts that are gone leave theirs behind where their process was killed. That of a mount which ended without anybody
  /// having wanted it stays until it is mounted again.
  private static func clear(_ places: Places, except mountPoint: String) {
    let devices = Set(MountTable.all().map { name(of: $0.device) })
    let elsewhere = servedElsewhere(places: places).map(\.file)
    let vanished = vanishedFiles(places).filter { $0.mountPoint != mountPoint }.map(\.name)
    for name in (try? Directories.names(in: directory(places))) ?? [] {
      let device = String(name.prefix { $0 != "." })
      let file = directory(places) + "/" + name
      if !devices.contains(device), !vanished.contains(name), !elsewhere.contains(file) { unlink(file) }
    }
  }

  /// The mount points that nothing is mounted on any more although nobody has unmounted it: no process could follow the last
  /// one.
  static func vanished(places: Places) -> [String] { vanishedFiles(places).map(\.mountPoint) }

  /// The mount points that this mount namespace no longer has, but a process serves for another one.
  static func servedElsewhere(places: Places) -> [MountRecord] {
    let devices = Set(MountTable.all().map { name(of: $0.device) })
    return ((try? Directories.names(in: directory(places))) ?? []).compactMap { device in
      device.contains(".") || devices.contains(device) ? nil : read(directory(places) + "/" + device)
    }
  }

  /// The process that serves the mount with a device number; nil where there is none.
  /// - Parameter seconds: how long it has to end: it does so where the mount was the last one.
  static func process(ofDevice device: String, places: Places, leavesWithin seconds: Double) -> Int32? {
    let deadline = MonotonicTime.after(seconds)
    while let record = read(path(device, places)) {
      if .now > deadline { return record.process }
      usleep(pace)
    }
    return nil
  }

  private static func vanishedFiles(_ places: Places) -> [(name: String, mountPoint: String)] {
    // Not by the device: another mount may have its number by now.
    let mountPoints = Set(MountTable.all().map(\.mountPoint))
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    // Of an earlier boot, where the directory outlives that: ended with it.
    let booted = wallClockSeconds() - Int64(time.tv_sec)
    return ((try? Directories.names(in: directory(places))) ?? []).compactMap { name in
      var status = stat()
      guard !name.contains("."), stat(directory(places) + "/" + name, &status) == 0,
        Int64(status.st_mtim.tv_sec) >= booted, let lines = lines(directory(places) + "/" + name)
      else { return nil }
      let mountPoint = String(lines[3].dropLast())
      guard !mountPoints.contains(mountPoint), stat(mountPoint, &status) == 0,
        read(directory(places) + "/" + name) == nil
      else { return nil }
      return (name, mountPoint)
    }
  }

  private static func lines(_ path: String) -> [Substring]? {
    guard let bytes = try? Directories.readRegular(path, limit: 8192) else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", maxSplits: 3, omittingEmptySubsequences: false)
    return lines.count == 4 ? lines : nil
  }

  // MARK: Other programs

  /// The mount on `mountPoint`, an absolute path; nil where none of this user is served there.
  static func find(_ mountPoint: String, places: Places) -> MountRecord? {
    guard let mount = MountTable.mount(on: mountPoint), mount.isOurs else { return nil }
    return read(path(mount.device, places))
  }

  static func all(places: Places) -> [MountRecord] {
    MountTable.all().filter(\.isOurs).compactMap { read(path($0.device, places)) }
  }

  /// The mount points of this user whose process has gone, and has been followed by no other so far.
  static func abandoned(places: Places) -> [String] {
    MountTable.all().filter(\.isOurs).compactMap { mount in
      let file = path(mount.device, places)
      return access(file, F_OK) == 0 && read(file) == nil ? mount.mountPoint : nil
    }
  }

  private static func read(_ path: String) -> MountRecord? {
    guard let lines = lines(path), let process = Int32(lines[0]), process > 1 else { return nil }
    let record = MountRecord(
      process: process, started: String(lines[1]), isRevived: lines[2] == revived,
      mountPoint: String(lines[3].dropLast()), file: path)
    return startTime(process) == record.started ? record : nil
  }

  /// The same; where its process has just died, once the next one serves.
  static func findLiving(_ mountPoint: String, places: Places) -> MountRecord? {
    guard let mount = MountTable.mount(on: mountPoint), mount.isOurs else { return nil }
    let path = path(mount.device, places)
    // Once it answers, a process that was about to end has ended.
    guard access(path, F_OK) == 0, MountProbe.look(at: mountPoint) == .alive else { return nil }
    let deadline = MonotonicTime.after(5)
    while .now < deadline {
      if let record = read(path) { return record }
      usleep(pace)
    }
    return nil
  }

  /// Microseconds between two looks: nothing tells of a process that has just begun to serve, and it is waited for seldom.
  private static let pace: UInt32 = 5000

  /// Whether the process can hand over: the signal that asks for it would end one of an older version.
  var canHandOver: Bool { Signals.isTaken(Signals.handOver, by: process) }

  /// Whether it runs another program than this one, or another version of it.
  var isOfOtherProgram: Bool {
    var (own, its) = (stat(), stat())
    guard stat("/proc/self/exe", &own) == 0, stat("/proc/\(process)/exe", &its) == 0 else { return false }
    return own.st_dev != its.st_dev || own.st_ino != its.st_ino
  }

  /// The values of -o that it was called with.
  func options() -> [String] {
    guard let bytes = try? Directories.read("/proc/\(process)/cmdline") else { return [] }
    var arguments = ArgumentList(bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
    return (try? arguments.takeValues("-o")) ?? []
  }

  /// Asks it to hand over to `call`, and waits until the next process serves.
  /// - Throws: `CommandFailure` saying why that did not come about.
  func handOver(to call: MountCall, places: Places) throws {
    guard canHandOver else {
      throw CommandFailure(
        "the mount on \(mountPoint) cannot be handed over: podcastfs unmount \(mountPoint), then mount it again"
      )
    }
    try Directories.replace(file + Self.callEnding, with: call.text, outlivesPower: false)
    guard kill(process, Signals.handOver) == 0 else { throw CommandFailure("\(Errno.current)") }
    let deadline = MonotonicTime.after(Self.patience)
    while Self.read(file).map({ $0.process == process }) ?? true {
      guard MountTable.isOurs(mountPoint) else {
        throw CommandFailure("the mount on \(mountPoint) was unmounted meanwhile")
      }
      guard .now < deadline else {
        throw CommandFailure("the mount on \(mountPoint) was not handed over: see podcastfs doctor")
      }
      usleep(Self.pace)
    }
  }

  /// Seconds.
  private static let patience = 20.0

  // MARK: Files

  private static let callEnding = ".call"
  private static let revived = "revived"
  private static func directory(_ places: Places) -> String { places.runtime + "/mounts" }
  private static func name(of device: String) -> String {
    String(device.map { $0 == ":" ? "-" : $0 })
  }
  static func path(_ device: String, _ places: Places) -> String {
    directory(places) + "/" + name(of: device)
  }

  /// The twenty-second field; the second, the name, may hold blanks. nil where the process has ended (the third: Z, X).
  private static func startTime(_ process: Int32) -> String? {
    guard let bytes = try? Directories.read("/proc/\(process)/stat"),
      let end = bytes.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = String(decoding: bytes[end...], as: UTF8.self).split(separator: " ")
    guard fields.count > 20, fields[1] != "Z", fields[1] != "X" else { return nil }
    return String(fields[20])
  }
}
