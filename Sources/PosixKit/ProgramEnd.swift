internal import Glibc

/// How a program ends in order.
package enum ProgramEnd {
  /// Ends the program with all that was printed, but without what exit(3) would have libraries do: OpenSSL frees its
  /// tables then, while threads that are being stopped (HTTP clients') still free what lies in them.
  package static func leave(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
  }
}
