internal import Glibc
package import PosixKit

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
    let process = try ChildProcess.start(
      program, name: arguments[0], Array(arguments.dropFirst()),
      files: [input.rawValue, output.rawValue, nil, third.rawValue, pipe.writer.rawValue], isDetached: false)
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

  /// - Returns: whether it has ended by then.
  private static func wait(_ process: pid_t, until deadline: MonotonicTime) throws(PosixError) -> Bool {
    guard let descriptor = ChildProcess.watch(process) else { throw .last("watch a process") }
    var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&entry, 1, deadline.pollTimeout)
      if count > 0 { return true }
      if count < 0, Errno.current != .EINTR { throw .last("wait for a process") }
      if deadline <= .now { return false }
    }
  }
}

/// How a helper gets on: it writes a byte into a pipe whenever there is more in its output, and its end closes that.
package final class HelperProgress {
  private let pipe: FileDescriptor
  private let deadline: MonotonicTime
  /// Whether nothing more comes.
  private(set) var hasEnded = false

  init(_ pipe: consuming FileDescriptor, until deadline: MonotonicTime) {
    self.pipe = pipe
    self.deadline = deadline
  }

  /// Waits until there is more.
  /// - Returns: false where nothing more comes, or not in time.
  package func wait() -> Bool {
    var entry = pollfd(fd: pipe.rawValue, events: Int16(POLLIN), revents: 0)
    var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    while true {
      let count = poll(&entry, 1, deadline.pollTimeout)
      if count < 0, Errno.current != .EINTR { return false }
      if count <= 0, deadline <= .now { return false }
      if count <= 0 { continue }
      let read = withUnsafeMutableBytes(of: &bytes) { Glibc.read(pipe.rawValue, $0.baseAddress, $0.count) }
      if read > 0 { return true }
      if read < 0, Errno.current == .EINTR { continue }
      hasEnded = true
      return false
    }
  }

  /// Says, in the helper, that there is more. Where nobody has looked for long that is known already.
  package static func tell() {
    var entry = pollfd(fd: HelperProcess.progressDescriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&entry, 1, 0) == 1, entry.revents & Int16(POLLOUT) != 0 else { return }
    _ = Glibc.write(HelperProcess.progressDescriptor, "+", 1)
  }
}
