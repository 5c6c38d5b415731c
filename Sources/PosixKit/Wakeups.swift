internal import CLinux
internal import Glibc

/// Wakes a thread that sleeps in poll(2), from any other: eventfd(2).
package final class WakeupEvent: Sendable {
  private let file: FileDescriptor

  package init() throws(PosixError) {
    file = FileDescriptor(
      owning: try retrying("create an eventfd") { eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)) })
  }

  /// To be polled for POLLIN.
  package var descriptor: Int32 { file.rawValue }

  package func signal() {
    var one: UInt64 = 1
    _ = Glibc.write(file.rawValue, &one, 8)
  }

  /// Takes all signals so far.
  package func drain() { takeCount(file.rawValue) }
}

/// Takes the count of an eventfd or a timerfd.
private func takeCount(_ descriptor: Int32) {
  var count: UInt64 = 0
  _ = Glibc.read(descriptor, &count, 8)
}

/// A timer whose time also passes while the machine sleeps (timerfd_create(2), CLOCK_BOOTTIME).
package final class WakeTimer: Sendable {
  private let file: FileDescriptor

  package init() throws(PosixError) {
    file = FileDescriptor(
      owning: try retrying("create a timer") {
        timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
      })
  }

  /// To be polled for POLLIN.
  package var descriptor: Int32 { file.rawValue }

  /// Sets the timer, in place of the last time.
  /// - Parameter seconds: from now; nil for never.
  package func set(after seconds: Double?) {
    let bounded = seconds.map { min(max($0, 0.000_001), 1e9) } ?? 0
    var time = itimerspec()
    time.it_value.tv_sec = Int(bounded)
    time.it_value.tv_nsec = Int((bounded - bounded.rounded(.down)) * 1e9)
    timerfd_settime(file.rawValue, 0, &time, nil)
  }

  package func drain() { takeCount(file.rawValue) }
}

/// read(2) of the bytes that there are; waits for some until `deadline`.
/// - Returns: 0 at the end of the file, and where nothing comes in time; -1 for an error.
package func readWaiting(
  _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, until deadline: MonotonicTime
) -> Int {
  var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  while true {
    let ready = poll(&entry, 1, deadline.pollTimeout)
    let count = ready > 0 ? Glibc.read(descriptor, buffer.baseAddress, buffer.count) : Int(ready)
    if count > 0 || ready > 0 && count == 0 { return count }
    if count < 0, Errno.current != .EINTR { return -1 }
    if deadline <= .now { return 0 }
  }
}

/// Waiting for a descriptor beside a wake-up event: poll(2).
package enum Readiness: Sendable {
  /// What was waited for can be done, or would fail at once.
  case ready
  /// The event was signalled.
  case woken
  case timedOut

  package enum Interest: Sendable {
    case read, write
    /// The peer has closed or gone.
    case hangup
  }

  /// Waits until `descriptor` is ready for `interest`, `event` is signalled (and stays so) or the deadline.
  package static func wait(
    for interest: Interest, of descriptor: Int32, or event: WakeupEvent, until deadline: MonotonicTime
  ) -> Readiness {
    let events =
      switch interest {
      case .read: POLLIN
      case .write: POLLOUT
      case .hangup: peerClosed
      }
    var entries = [
      pollfd(fd: event.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(events), revents: 0),
    ]
    while true {
      let count = poll(&entries, 2, deadline.pollTimeout)
      if count < 0 && Errno.current == .EINTR { continue }
      if entries[0].revents != 0 { return .woken }
      if entries[1].revents != 0 || count < 0 { return .ready }
      if deadline <= .now { return .timedOut }
    }
  }

  /// POLLRDHUP, which Glibc shows under _GNU_SOURCE only.
  private static let peerClosed: Int32 = 0x2000
}
