internal import CSQLite
internal import Glibc
package import PosixKit

/// What SQLite refused: its result code and its words; never the values bound to a statement.
package struct DatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
  /// SQLite's extended result code (https://sqlite.org/rescode.html).
  package var code: Int32
  package var message: String
  /// Whether its disk takes nothing: after an error ext4 is read-only, though files stay open for writing.
  package var isOfReadOnlyDisk = false
  /// The one of the database's files that is at fault, where that is known; the message names it.
  package var file: String?

  package init(code: Int32, message: String) {
    (self.code, self.message) = (code, message)
  }

  init(code: Int32, of connection: OpaquePointer?) {
    self.init(code: code, message: String(cString: sqlite3_errmsg(connection)))
    if primary == SQLITE_IOERR, let path = sqlite3_db_filename(connection, "main") {
      isOfReadOnlyDisk = Self.isReadOnly(String(cString: path))
    }
  }

  /// SQLite keeps no errno of a write that failed. The file itself must not be opened: closing it ends SQLite's locks.
  private static func isReadOnly(_ path: String) -> Bool {
    let probe = "\(path).probe.\(getpid())"
    if mkdir(probe, 0o700) == 0 {
      rmdir(probe)
      return false
    }
    return Errno.current == .EROFS
  }

  static func otherVersion(found: Int, known: Int) -> DatabaseError {
    DatabaseError(code: SQLITE_MISMATCH, message: "its tables are of version \(found), not \(known)")
  }

  /// Whether the file is sound, but lies on a file system that cannot map a file into several processes. SQLite needs that
  /// for its write-ahead log (https://sqlite.org/wal.html).
  package var isMisplaced: Bool { Self.mapFailures.contains(code) }
  private static let mapFailures = [SQLITE_IOERR | 21 << 8, SQLITE_IOERR | 18 << 8]

  package var isBusy: Bool { primary == SQLITE_BUSY || primary == SQLITE_LOCKED }
  package var isDamaged: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }

  /// What a full-text index keeps is damaged, and nothing else (SQLITE_CORRUPT_VTAB).
  package var isOfIndex: Bool { code == SQLITE_CORRUPT | 1 << 8 }

  /// Its tables are not those that the statement is for.
  package var isOfOtherShape: Bool { primary == SQLITE_ERROR }
  package var isOfOtherVersion: Bool { primary == SQLITE_MISMATCH }

  package var errno: Errno {
    switch primary {
    case SQLITE_FULL: .ENOSPC
    // The file that its processes share could not grow.
    case SQLITE_IOERR where code >> 8 == 19: .ENOSPC
    case SQLITE_IOERR where isOfReadOnlyDisk: .EROFS
    case SQLITE_BUSY, SQLITE_LOCKED: .EBUSY
    case SQLITE_READONLY: .EROFS
    case SQLITE_PERM, SQLITE_AUTH, SQLITE_CANTOPEN: .EACCES
    case SQLITE_NOMEM: .ENOMEM
    case SQLITE_CONSTRAINT: .EEXIST
    default: .EIO
    }
  }

  package var description: String {
    if isOfReadOnlyDisk { return "the disk of the database has become read-only" }
    return file == nil ? "database: \(message) (\(code))" : message
  }

  var primary: Int32 { code & 0xff }
}

extension DatabaseError {
  /// The same with the name of the file that may not be used: the database's own, or one that SQLite keeps beside it
  /// (https://sqlite.org/tempfiles.html). Opens none: to close it would take away the locks that this process has on it
  /// (https://sqlite.org/howtocorrupt.html).
  func naming(filesOf given: String, _ options: Database.Options) -> DatabaseError {
    let resolved = realpath(given, nil)
    defer { free(resolved) }
    let path = resolved.map { String(cString: $0) } ?? given
    var named = self
    if isMisplaced {
      let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
      named.message = "SQLite needs shared memory maps, which the file system of \(directory) does not have"
      if let variable = options.placeVariable {
        named.message += ": set \(variable) to a folder on another one"
      }
      named.file = path
    } else if [SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY].contains(primary) {
      for file in ["-wal", "-shm", "-journal"].map({ path + $0 }) {
        if access(file, options.isReadOnly ? R_OK : R_OK | W_OK) == 0 || Errno.current == .ENOENT { continue }
        (named.message, named.file) = ("\(file): \(Errno.current)", file)
        break
      }
    }
    return named
  }
}
