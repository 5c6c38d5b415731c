internal import CFuse3
internal import PosixKit

/// A program that waits in poll(2). It is woken at most once, and released with the last reference.
///
/// libfuse takes a notification from any thread. The handle never changes, the flag under the lock lets one caller use
/// it, and it is destroyed with the last reference: that makes it Sendable.
package final class FusePollWaiter: @unchecked Sendable {
  private let handle: OpaquePointer
  private let isDone = Monitor(false)

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { fuse_pollhandle_destroy(handle) }

  package func notify() {
    let isFirst = isDone.withLock { isDone in
      defer { isDone = true }
      return !isDone
    }
    if isFirst { fuse_lowlevel_notify_poll(handle) }
  }
}
