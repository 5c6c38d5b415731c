package import PosixKit

/// Why bytes can't be had: the errno for the reader, and the line for the `error` attribute.
package struct TransferFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// EIO, ENOSPC (a full disk), ESTALE (the representation is gone), EINTR (cancelled).
  package var errno: Errno
  package var message: String

  package init(_ errno: Errno, _ message: String) {
    self.errno = errno
    self.message = message
  }

  package var description: String { message }
}
