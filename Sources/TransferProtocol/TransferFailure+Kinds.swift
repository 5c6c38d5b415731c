internal import PosixKit

// The failures that there are, for who knows no errno.
extension TransferFailure {
  /// No byte will come.
  package static func lasting(_ message: String) -> TransferFailure { TransferFailure(.EIO, message) }
  package static func noRoom(_ message: String) -> TransferFailure { TransferFailure(.ENOSPC, message) }
  /// The representation is gone.
  package static let changed = TransferFailure(.ESTALE, "the server's file has changed")
  /// Nothing is left of it, and nobody has it come again.
  package static let gone = TransferFailure(.ESTALE, "what was here has been dropped or deleted")
  package static let notOpen = TransferFailure(.EBADF, "not open")
}
