package import PosixKit

/// What could not be done with the directory of podcasts: the errno for the caller of the file system, and one line for a
/// person.
package struct DirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
  package var errno: Errno
  package var message: String

  package init(_ errno: Errno, _ message: String) {
    self.errno = errno
    self.message = message
  }

  package var description: String { message }

  /// The file that was to be imported is no dump of Podcast Index, or one that cannot be used.
  static func refused(_ reason: String) -> DirectoryError {
    DirectoryError(.EINVAL, "not imported: \(reason)")
  }

  package static let missing = DirectoryError(
    .ENOENT, "no directory is installed: podcastfs directory fetch")
}
