internal import Glibc
internal import PosixKit

/// Whether a mount answers. A process of its own finds out: a system call that gets no answer cannot be interrupted, nor can
/// the process that waits in it be ended.
package enum MountProbe {
  package enum Answer: Hashable, Sendable {
    case alive
    /// Its process has gone and left it there.
    case dead
    /// Its process does not answer, or it is not one's own.
    case silent
  }

  /// The word that the process is called by.
  package static let word = "--probe"
  private static let deadStatus: Int32 = 2

  /// In that process. statvfs(2), because attributes may be in the kernel's cache still.
  package static func run(_ words: [String]) -> Int32 {
    guard words.count == 1 else { return 64 }
    var status = statvfs()
    if statvfs(words[0], &status) == 0 { return 0 }
    return [.ENOTCONN, .ECONNABORTED].contains(Errno.current) ? deadStatus : 0
  }

  /// Seconds that a mount has to answer in.
  private static let patience = 5.0

  package static func look(at mountPoint: String) -> Answer {
    guard let process = try? ChildProcess.start(ProgramArguments.file, [word, mountPoint]),
      let ending = ChildProcess.watch(process)
    else { return .alive }
    let deadline = MonotonicTime.after(patience)
    var entry = pollfd(fd: ending.rawValue, events: Int16(POLLIN), revents: 0)
    while poll(&entry, 1, deadline.pollTimeout) <= 0, deadline > .now {}
    guard let status = ChildProcess.reap(process) else {
      // It ends when the mount answers or is unmounted. This process does not wait for that.
      kill(process, SIGKILL)
      return .silent
    }
    return status == deadStatus ? .dead : .alive
  }
}
