internal import CLinux
internal import Glibc

/// Wakes a thread that sleeps in poll(2), from any other: eventfd(2).
package final class WakeupEvent: Sendable {
  private let file: FileDescriptor

  package init() throws(PosixError) {
    file = FileDescriptor(owning: try retrying("create an eventfd") { podcastfs_eventfd() })
  }

  /// To be polled for POLLIN.
  package var descriptor: Int32 { file.rawValue }

  package func signal() {
    var one: UInt64 = 1
    _ = Glibc.write(file.rawValue, &one, 8)
  }

  /// Takes all signals so far.
  package func drain() {
    var count: UInt64 = 0
    _ = Glibc.read(file.rawValue, &count, 8)
  }
}
