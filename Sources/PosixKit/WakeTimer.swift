internal import CLinux
internal import Glibc

/// A timer whose time also passes while the machine sleeps (timerfd_create(2), CLOCK_BOOTTIME).
package final class WakeTimer: Sendable {
  private let file: FileDescriptor

  package init() throws(PosixError) {
    file = FileDescriptor(owning: try retrying("create a timer") { podcastfs_wake_timer() })
  }

  /// To be polled for POLLIN.
  package var descriptor: Int32 { file.rawValue }

  /// Sets the timer anew.
  /// - Parameter seconds: from now; nil for never.
  package func set(after seconds: Double?) {
    let bounded = seconds.map { min(max($0, 0.000_001), 1e9) }
    _ = podcastfs_set_wake_timer(file.rawValue, bounded ?? 0)
  }

  /// Takes what it has told.
  package func drain() {
    var count: UInt64 = 0
    _ = Glibc.read(file.rawValue, &count, 8)
  }
}
