internal import Glibc
internal import PosixKit

/// The signals that wait for a thread, and what it does with each kind (proc_pid_status(5)). Bit n - 1 stands for signal n.
struct PendingSignals {
  private var pending: UInt64 = 0
  private var blocked: UInt64 = 0
  private var ignored: UInt64 = 0
  private var caught: UInt64 = 0

  /// - Returns: nil where the thread has ended.
  init?(thread: Int32) {
    guard thread > 0, let bytes = try? Directories.read("/proc/\(thread)/status") else { return nil }
    self.init(status: String(decoding: bytes, as: UTF8.self))
  }

  /// - Parameter status: the text of /proc/PID/status.
  init(status: String) {
    for line in status.split(separator: "\n") {
      let parts = line.split(separator: "\t")
      guard parts.count == 2, let set = UInt64(parts[1], radix: 16) else { continue }
      switch parts[0] {
      case "SigPnd:", "ShdPnd:": pending |= set
      case "SigBlk:": blocked = set
      case "SigIgn:": ignored = set
      case "SigCgt:": caught = set
      default: break
      }
    }
  }

  /// Whether the wait must end: a pending signal kills the thread, or it handles SIGINT, SIGTERM, SIGHUP or SIGQUIT.
  /// Job control, window changes, debuggers and a suspend of the machine do not end the wait.
  var endWait: Bool {
    let delivered = pending & ~blocked & ~ignored
    let handled = delivered & caught & Self.set([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    let harmless = Self.set([SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU])
    return handled != 0 || delivered & ~caught & ~harmless != 0
  }

  /// A thread that has ended, or that this process can't see, waits no longer.
  static func endWait(ofThread thread: Int32) -> Bool { PendingSignals(thread: thread)?.endWait ?? true }

  private static func set(_ signals: [Int32]) -> UInt64 { signals.reduce(0) { $0 | 1 << UInt64($1 - 1) } }
}
