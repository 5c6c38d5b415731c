internal import CSQLite
internal import Glibc
internal import PosixKit

/// A database's file, and those that SQLite keeps beside it (https://sqlite.org/tempfiles.html).
struct DatabaseFiles {
  private let path: String
  private var companions: [String] { ["-wal", "-shm", "-journal"].map { path + $0 } }

  /// Beside the file that a link leads to.
  init(of path: String) {
    let resolved = realpath(path, nil)
    defer { free(resolved) }
    self.path = resolved.map { String(cString: $0) } ?? path
  }

  /// The same error with the name of the file that may not be used. Opens none: to close it would take away the locks
  /// that this process has on it (https://sqlite.org/howtocorrupt.html).
  func explain(_ error: DatabaseError, _ options: Database.Options) -> DatabaseError {
    if error.isMisplaced {
      return .noSharedMaps(of: path, variable: options.placeVariable, code: error.code)
    }
    guard [SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY].contains(error.primary) else { return error }
    for file in companions {
      if access(file, options.isReadOnly ? R_OK : R_OK | W_OK) == 0 || Errno.current == .ENOENT { continue }
      var named = error
      named.message = "\(file): \(Errno.current)"
      named.file = file
      return named
    }
    return error
  }
}
