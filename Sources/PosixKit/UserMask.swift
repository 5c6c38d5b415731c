internal import Glibc

/// The umask (umask(2)) of whoever started the program, which itself makes files for its user alone.
package enum UserMask {
  /// The one that the program was started with.
  package static let bits: UInt32 = umask(restricted)

  private static let restricted: mode_t = 0o077

  /// What the program makes is for its user alone from here on. To be called first, before other threads are there.
  package static func restrict() { _ = bits }

  /// Runs `body` with the user's own: for directories and processes that are his. Only while this is the only
  /// thread.
  package static func holding<R>(_ body: () -> R) -> R {
    umask(bits)
    defer { umask(restricted) }
    return body()
  }
}
