internal import Glibc

/// A time as stat(2) shows it.
package struct FileTime: Hashable, Comparable, Sendable {
  /// Since 1970.
  package var seconds: Int64
  package var nanoseconds: Int32

  package init(_ seconds: Int64, nanoseconds: Int32 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// - Parameter nanoseconds: since 1970.
  init(sinceEpoch nanoseconds: Int64) {
    self.init(nanoseconds / 1_000_000_000, nanoseconds: Int32(max(0, nanoseconds % 1_000_000_000)))
  }

  /// In nanoseconds since 1970.
  package var sinceEpoch: Int64 { seconds &* 1_000_000_000 &+ Int64(nanoseconds) }

  package static var now: FileTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTime(Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
  }

  package static func < (a: FileTime, b: FileTime) -> Bool {
    (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
  }
}
