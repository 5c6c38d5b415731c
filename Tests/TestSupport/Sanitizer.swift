internal import Glibc

/// The thread or address sanitizer, for which the tests are built once more (`.ci/sanitizers`).
package enum Sanitizer {
  /// Whether the tests and their programs run under one. It takes memory and time of its own, and must be the first
  /// library that a program loads: tests of a program's memory, and those that load a library into it, are left out
  /// then, and those of cost are smaller.
  package static let isOn = name != nil

  /// Whether a program under it never is at rest: the thread sanitizer's own thread wakes ten times a second.
  package static let keepsBusy = name == "thread"

  private static let name = getenv("PODCASTFS_SANITIZER").map { String(cString: $0) }
}
