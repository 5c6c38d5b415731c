internal import CLinux
internal import Glibc

/// Another process of a program that does one piece of work with files that it is given, and ends: where that may
/// fail in any way, it costs no more than the piece.
package enum HelperProcess {
  package enum End: Hashable, Sendable {
    case exited(Int32)
    /// By a signal (signal(7)).
    case signalled(Int32)
    /// It was ended because its time was up.
    case timedOut
    /// It was ended because what it wrote is of no use.
    case abandoned
  }

  /// This very program, also where its file has been replaced since it was started.
  package static let thisProgram = "/proc/self/exe"

  /// The number that the third file has in the helper.
  package static let thirdDescriptor: Int32 = 3
  /// The number of the pipe by which the helper says that there is more in its output.
  package static let progressDescriptor: Int32 = 4

  /// Runs `program` with `input` as its standard input, `output` as its standard output, `third` as descriptor 3,
  /// nothing else of ours that is open, and no word on standard error; and waits for its end.
  /// - Parameters:
  ///   - arguments: everybody on the machine can read them: no secrets.
  ///   - body: what is done while it runs, with how it gets on.
  /// - Returns: how it ended, and what `body` made; nil where that gave up, for which the helper is ended too.
  package static func run<Result>(
    _ program: String, _ arguments: [String], input: borrowing FileDescriptor,
    output: borrowing FileDescriptor, third: borrowing FileDescriptor, until deadline: MonotonicTime,
    while body: (HelperProgress) -> Result?
  ) throws(PosixError) -> (End, Result?) {
    let pipe = try Pipe()
    // None of the helper's own numbers: each is made of the file that has it here.
    let job = try above(third)
    let writer = try above(pipe.writer)
    let process = try start(
      program, arguments, [input.rawValue, output.rawValue, job.rawValue, writer.rawValue])
    _ = consume writer
    let progress = HelperProgress(pipe.takeReader(), until: deadline)
    let result = body(progress)
    var status: Int32 = 0
    var isInTime = result != nil || progress.hasEnded
    do throws(PosixError) {
      if isInTime { isInTime = try wait(process, until: deadline) }
    } catch {
      // Without a way to wait with a deadline it is better ended than waited for without one.
      isInTime = false
    }
    if !isInTime { kill(process, SIGKILL) }
    try retrying("wait for", program) { waitpid(process, &status, 0) }
    if !isInTime { return (deadline <= .now ? .timedOut : .abandoned, result) }
    let signal = status & 0x7f
    return (signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal), result)
  }

  /// The same file under a number that no file of the helper's has.
  private static func above(_ file: borrowing FileDescriptor) throws(PosixError) -> FileDescriptor {
    let number = file.rawValue
    return FileDescriptor(
      owning: try retrying("copy a descriptor") { fcntl(number, F_DUPFD_CLOEXEC, progressDescriptor + 1) })
  }

  private static func start(
    _ program: String, _ arguments: [String], _ descriptors: [Int32]
  ) throws(PosixError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, descriptors[0], 0)
    posix_spawn_file_actions_adddup2(&actions, descriptors[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, descriptors[2], thirdDescriptor)
    posix_spawn_file_actions_adddup2(&actions, descriptors[3], progressDescriptor)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var texts: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { texts.forEach { free($0) } }
    var process: pid_t = 0
    let error = posix_spawn(&process, program, &actions, &attributes, &texts, environ)
    if error != 0 { throw PosixError(Errno(rawValue: error), "start", program) }
    return process
  }

  /// - Returns: whether it has ended by then.
  private static func wait(_ process: pid_t, until deadline: MonotonicTime) throws(PosixError) -> Bool {
    let descriptor = FileDescriptor(
      owning: try retrying("watch a process") { podcastfs_process_descriptor(process) })
    var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&entry, 1, deadline.pollTimeout)
      if count > 0 { return true }
      if count < 0, Errno.current != .EINTR { throw .last("wait for a process") }
      if deadline <= .now { return false }
    }
  }
}
