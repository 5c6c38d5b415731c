internal import Glibc

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
