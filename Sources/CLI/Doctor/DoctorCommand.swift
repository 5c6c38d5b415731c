internal import BusKit
internal import Configuration
internal import FeedKit
internal import FuseKit
internal import Glibc
internal import HTTPKit
internal import MountHandover
internal import MountService
internal import PodcastModel
internal import PosixKit

extension Command {
  static let doctor = Command(
    """
    podcastfs doctor [--json] [--quiet]

    Checks what podcastfs needs: FUSE, libraries, folders, mounts, the daemon, the search service. Shows a fix for each problem.
    The status is 1 where there is one.

      --quiet  problems only
    """
  ) { arguments in
    _ = try arguments.operands()
    var findings: [Finding] = []
    func report(_ more: [Finding]) {
      for finding in more where !StandardStreams.isJSON && (finding.isProblem || !StandardStreams.isQuiet) {
        StandardStreams.tell(finding.text, hanging: Finding.indent, finding.color)
      }
      findings += more
    }
    report(MachineChecks.all())
    let places = PlaceChecks.all(environment: Places.processEnvironment)
    report(places.findings)
    if let settings = places.settings, let found = try? Places() {
      report(ServiceChecks.directory(found, settings) + ServiceChecks.synchronization(found, settings))
    }
    // Last, because it may take its time.
    if let settings = places.settings { report([ServiceChecks.search(settings)]) }
    StandardStreams.show(.array(findings.map(\.json))) {}
    let problems = findings.count(where: \.isProblem)
    if problems > 0 { throw CommandFailure("\(HumanText.count(problems, "problem")) found") }
  }
}

package enum Finding: Hashable, Sendable {
  case fine(String)
  /// Nothing is wrong, but it is good to know.
  case note(String)
  case problem(String, fix: String)
  package var isProblem: Bool { parts.status == "problem" }

  private var parts: (status: String, message: String, fix: String?, color: Style.Color?) {
    switch self {
    case .fine(let message): ("ok", message, nil, nil)
    case .note(let message): ("note", message, nil, .yellow)
    case .problem(let message, let fix): ("problem", message, fix, .red)
    }
  }

  var color: Style.Color? { parts.color }
  var json: JSONValue { .members(["status": parts.status, "message": parts.message, "fix": parts.fix]) }

  /// Columns of the word at the beginning of a line.
  static let indent = 9

  package var text: String {
    let fix = parts.fix.map { "\n" + ColumnText.fitted("fix:", Self.indent) + $0 } ?? ""
    return ColumnText.fitted(isProblem ? "PROBLEM" : parts.status, Self.indent) + parts.message + fix
  }
}

/// Whether this machine and user can mount, whether the libraries have the needed features, and whether the mounts that are
/// there are alive.
package enum MachineChecks {
  static func all() -> [Finding] {
    let findings = [
      .fine("libfuse \(FuseSession.libraryVersion)"), device("/dev/fuse"),
      helper(ChildProcess.find("fusermount3")), keeping,
    ]
    // Another user's mount answers its own user alone.
    let mounts = MountTable.all().filter { $0.isOurs && $0.user == geteuid() }
    return findings.compactMap(\.self) + mounts.map { mount($0.mountPoint) } + libraries()
  }

  package static func device(_ path: String) -> Finding {
    do {
      _ = try FileDescriptor(opening: path, O_RDWR)
      return .fine("\(path) can be used")
    } catch {
      let isClosed = error.errno == .EACCES || error.errno == .EPERM
      return .problem(
        "\(path) cannot be used: \(error.errno)",
        fix: isClosed
          ? "as root: chmod 666 \(path)" : "as root: modprobe fuse (in a container: give it /dev/fuse)")
    }
  }

  /// Checks fusermount3, which mounts for ordinary users: it must belong to root and be set-user-ID.
  package static func helper(_ path: String?) -> Finding {
    guard let path else { return .problem("fusermount3 is not installed", fix: "apt-get install fuse3") }
    var status = stat()
    let isSetUID = stat(path, &status) == 0 && status.st_uid == 0 && status.st_mode & S_ISUID != 0
    return isSetUID || geteuid() == 0
      ? .fine("\(path) can mount")
      : .problem("\(path) does not run as root", fix: "as root: chown root \(path) && chmod u+s \(path)")
  }

  private static func mount(_ path: String) -> Finding {
    switch MountProbe.look(at: path) {
    case .alive: .fine("mounted on \(path)")
    case .dead:
      .problem(
        "the mount on \(path) is dead: its process has died",
        fix: "podcastfs mount \(path), or podcastfs unmount \(path)")
    case .silent:
      .problem(
        "the mount on \(path) does not answer: its process hangs or is stopped",
        fix: "podcastfs unmount --lazy \(path), then podcastfs mount \(path)")
    }
  }

  private static var keeping: Finding? {
    if !canKeep {
      return .note(
        "a mount ends with its process: another one can take it over from Linux 6.9 on (this is \(kernel))")
    }
    return Keeper.program != nil
      ? nil
      : .problem(
        "podcastfs-keep is missing: a mount ends with its process", fix: "install it beside podcastfs")
  }

  private static var kernel: String {
    var names = utsname()
    uname(&names)
    return withUnsafeBytes(of: &names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// By its version: the kernel itself tells only when something is mounted.
  static var canKeep: Bool {
    let numbers = kernel.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 9)
  }

  /// - Parameter program: podcastfs, whose parser's process is tried.
  package static func libraries(program: String = FeedReader.thisProgram) -> [Finding] {
    [
      curl(), sandbox(program),
      Bus.missing.map { .note("\($0): no notifications, every network counts as unmetered") }
        ?? .fine("libsystemd: notifications, metered networks and media players by D-Bus"),
    ]
  }

  private static func curl() -> Finding {
    do throws(HTTPError) { return .fine("libcurl \(try HTTPLibrary.version())") } catch {
      return .problem(error.message, fix: "apt-get install libcurl4")
    }
  }

  /// What a process that parses feeds can still do, as it finds out itself.
  private static func sandbox(_ program: String) -> Finding {
    let outcome = try? ChildProcess.run([program, FeedWorker.probeArgument])
    let (name, words) = ("feeds are parsed in a sandbox", outcome?.errors ?? "its process cannot be started")
    return outcome?.status == 0
      ? .fine("\(name)\(words.isEmpty ? "" : " (\(words))"): no files, no network, no programs")
      : .problem("\(name): \(words)", fix: "use a Linux kernel with Landlock or seccomp (5.13 or later)")
  }
}
