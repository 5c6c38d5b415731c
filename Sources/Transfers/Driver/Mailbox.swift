internal import PosixKit
internal import TransferEngine

/// What other threads have for the loop: many at once cost it one wake-up.
/// `isFull` is set and called on the loop only: that makes it Sendable.
final class Mailbox: @unchecked Sendable {
  private let events = Monitor<[Event]>([])
  private let loop: EventLoop
  /// Called on the loop when something has come.
  var isFull: () -> Void = {}

  init(loop: EventLoop) { self.loop = loop }

  func put(_ event: Event) {
    let isFirst = events.withLockNotifying { events in
      events.append(event)
      return events.count == 1
    }
    if isFirst { loop.async { self.isFull() } }
  }

  func take() -> [Event] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }

  func wait(until deadline: MonotonicTime) {
    _ = events.wait(until: deadline) { $0.isEmpty ? nil : true }
  }
}
