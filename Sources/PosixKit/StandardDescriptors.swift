internal import Glibc

/// Standard input, output and error.
package enum StandardDescriptors {
  /// Opens /dev/null in the place of those that the program was started without: else the first files that it opens
  /// took their numbers, and its messages went into them.
  package static func complete() {
    var number: Int32 = 0
    while number <= STDERR_FILENO {
      number = open("/dev/null", O_RDWR)
      if number < 0 { return }
    }
    close(number)
  }
}
