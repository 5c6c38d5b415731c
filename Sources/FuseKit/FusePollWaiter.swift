internal import CFuse3
internal import PosixKit

/// Somebody who waits in poll(2): told at most once, and let go of when nobody holds it.
package final class FusePollWaiter: @unchecked Sendable {
  // Invariant: used once, under the lock.
  private let handle: OpaquePointer
  private let isDone = Monitor(false)

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { fuse_pollhandle_destroy(handle) }

  /// The answer may be another now.
  package func notify() {
    let isFirst = isDone.withLock { isDone in
      defer { isDone = true }
      return !isDone
    }
    if isFirst { fuse_lowlevel_notify_poll(handle) }
  }
}
