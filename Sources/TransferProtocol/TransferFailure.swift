package import PodcastModel
package import PosixKit

/// Why bytes can't be had: the errno for the reader, and the line for the `error` attribute.
package struct TransferFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// EIO, ENOSPC (a full disk), ESTALE (the representation is gone), EINTR (cancelled).
  package var errno: Errno
  package var message: String

  package init(_ errno: Errno, _ message: String) {
    (self.errno, self.message) = (errno, message)
  }

  package var description: String { message }
}

// The failures that there are, for who knows no errno.
extension TransferFailure {
  package static func lasting(_ message: String) -> TransferFailure { TransferFailure(.EIO, message) }
  package static let changed = TransferFailure(.ESTALE, "the server's file has changed")
  /// The cache has no bytes of the episode, and nobody has ordered them.
  package static let gone = TransferFailure(.ESTALE, "the download was dropped or deleted")
  package static let notOpen = TransferFailure(.EBADF, "not open")
}

extension TransferFailure: BinaryValue {
  package func encode(into bytes: inout [UInt8]) { bytes.put(errno.rawValue, message) }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    self.init(Errno(rawValue: try reader.next()), try reader.next())
  }
}
