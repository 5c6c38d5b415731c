internal import Glibc

/// Standard input, output and error.
package enum StandardDescriptors {
  /// Opens /dev/null in the place of those that the program was started without: else the first files that it opens
  /// took their numbers, and its messages went into them. In the place of standard output it takes nothing: who
  /// asked for output and has none is told so.
  package static func complete() {
    // Each open takes the lowest number that is free.
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      if open("/dev/null", number == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0 { return }
    }
  }
}
