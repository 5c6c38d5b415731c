internal import CSQLite
package import PosixKit

/// What SQLite refused: its result code, its words and the statement; never the values bound to it.
package struct DatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
  /// SQLite's extended result code (https://sqlite.org/rescode.html).
  package var code: Int32
  package var message: String
  /// The statement with its placeholders; nil where none was run.
  package var sql: String?

  package init(code: Int32, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  /// The file's schema is of a later version than this program knows.
  package static func schemaTooNew(found: Int64, known: Int) -> DatabaseError {
    DatabaseError(
      code: SQLITE_MISMATCH,
      message: "the database is of a newer version of the program (schema \(found), known: \(known))")
  }

  /// There is something else in the file's place.
  package static func notADatabase(_ path: String) -> DatabaseError {
    DatabaseError(code: SQLITE_NOTADB, message: "no database: \(path)")
  }

  /// Another connection held the database for longer than the busy timeout.
  package var isBusy: Bool { primary == SQLITE_BUSY || primary == SQLITE_LOCKED }

  /// The file is no database, or a damaged one.
  package var isDamaged: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }

  /// The errno that fits for a caller of the file system.
  package var errno: Errno {
    switch primary {
    case SQLITE_FULL: .ENOSPC
    // The file that its processes share could not grow.
    case SQLITE_IOERR where code >> 8 == 19: .ENOSPC
    case SQLITE_BUSY, SQLITE_LOCKED: .EBUSY
    case SQLITE_READONLY: .EROFS
    case SQLITE_PERM, SQLITE_AUTH, SQLITE_CANTOPEN: .EACCES
    case SQLITE_NOMEM: .ENOMEM
    case SQLITE_CONSTRAINT: .EEXIST
    default: .EIO
    }
  }

  package var description: String {
    "database: \(message) (\(code))" + (sql.map { " in: \($0)" } ?? "")
  }

  private var primary: Int32 { code & 0xff }
}
