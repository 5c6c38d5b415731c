internal import CFuse3
internal import Glibc
internal import PosixKit

/// A reply that waits for something. The first caller of `take` answers it.
///
/// A signal for the waiting program may end the wait: `onInterrupt` then cancels the operation, and the operation's
/// completion takes the reply. The kernel reports the first signal as an INTERRUPT request. It reports no later signal, and
/// none where the program waits for pages. So the waiting thread's signals are read every `pause` seconds (`watchSignals`).
///
/// libfuse calls the interrupt's handler with the request's lock held. Where the INTERRUPT came before the handler was
/// registered, it calls it during the registration. The reply must not free the request then: the interrupt is noted, and
/// handled after the registration (`State.isRegistering`).
package final class ParkedReply: Sendable {
  private struct State: ~Copyable {
    var reply: FuseReply?
    var isRegistering = true
    var isInterrupted = false
    var onInterrupt: (@Sendable () -> Void)?
  }
  private let state: Monitor<State>
  private let token: UInt
  /// The waiting thread's number; 0 where it is in another pid namespace.
  private let thread: Int32
  private static let watcher = WorkQueue(name: "signals", stackSize: 128 * 1024)
  /// Seconds.
  private static let pause = 0.2

  /// The parked replies, by the number that libfuse carries for us: a late interrupt finds none.
  private static let registry = Monitor(Registry())
  private struct Registry: ~Copyable {
    var next: UInt = 0
    var parked: [UInt: ParkedReply] = [:]
    /// What all are answered with that come when the mount ends.
    var refusal: Errno?
  }

  package init(_ reply: consuming FuseReply) {
    let request = reply.request
    thread = fuse_req_ctx(request)?.pointee.pid ?? 0
    state = Monitor(State(reply: consume reply))
    token = Self.registry.withLock { registry in
      registry.next += 1
      return registry.next
    }
    Self.registry.withLock { $0.parked[token] = self }
    fuse_req_interrupt_func(
      request,
      { _, data in
        let token = UInt(bitPattern: data)
        ParkedReply.registry.withLock { $0.parked[token] }?.interrupted()
      }, UnsafeMutableRawPointer(bitPattern: token))
    state.withLock { $0.isRegistering = false }
    if let refusal = Self.registry.withLock({ $0.refusal }) { take()?.fail(refusal) }
  }

  /// Takes the reply, to answer it; nil where it was taken already.
  package func take() -> FuseReply? {
    Self.registry.withLock { _ = $0.parked.removeValue(forKey: token) }
    return state.withLock { state in
      state.onInterrupt = nil
      return state.reply.take()
    }
  }

  /// Says what to give up at an interrupt; called at once where one has come already.
  package func onInterrupt(_ action: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if state.isInterrupted { return true }
      if state.reply != nil { state.onInterrupt = action }
      return false
    }
    if isLate { action() }
  }

  /// Looks at the thread's signals from now on. The kernel reports none to a reader of its pages. It ends such a wait
  /// itself at SIGKILL, and at another signal only where that is the first.
  ///
  /// When the answer is a failure, the kernel reads a page again for each thread that waits for it.
  package func watchSignals() { if thread > 0 && PendingSignals(thread: thread) != nil { lookLater() } }
  package static var count: Int { registry.withLock { $0.parked.count } }

  /// Answers all that are parked, and from now on all that would be.
  static func refuse(with errno: Errno) {
    let parked = registry.withLock { registry in
      registry.refusal = errno
      return Array(registry.parked.values)
    }
    for parked in parked { parked.take()?.fail(errno) }
  }

  /// A signal has come, or may have come since the last look.
  private func interrupted() {
    guard PendingSignals.endWait(ofThread: thread) else { return lookLater() }
    let action = state.withLock { state -> (@Sendable () -> Void)? in
      state.isInterrupted = true
      return state.isRegistering ? nil : state.onInterrupt
    }
    action?()
  }

  private func lookLater() {
    Self.watcher.async(after: Self.pause) { [token] in
      Self.registry.withLock { $0.parked[token] }?.interrupted()
    }
  }
}

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
