internal import CSQLite
internal import Glibc
package import PosixKit

/// What SQLite refused: its result code, its words and the statement; never the values bound to it.
package struct DatabaseError: Error, Hashable, Sendable, CustomStringConvertible,
  CustomDebugStringConvertible
{
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

  init(code: Int32, of connection: OpaquePointer?, sql: String) {
    self.init(code: code, message: String(cString: sqlite3_errmsg(connection)), sql: sql)
  }

  /// The file's tables are of another version than the program's.
  static func otherVersion(found: Int, known: Int) -> DatabaseError {
    DatabaseError(code: SQLITE_MISMATCH, message: "its tables are of version \(found), not \(known)")
  }

  /// Another connection held the database for longer than the busy timeout.
  package var isBusy: Bool { primary == SQLITE_BUSY || primary == SQLITE_LOCKED }

  /// The file is no database, or a damaged one.
  package var isDamaged: Bool { primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB }

  /// Its tables are not those that the statement is for.
  package var isOfOtherShape: Bool { primary == SQLITE_ERROR }

  /// Its tables are of another version than the program's.
  package var isOfOtherVersion: Bool { primary == SQLITE_MISMATCH }

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

  /// For people: without the statement.
  package var description: String { "database: \(message) (\(code))" }

  package var debugDescription: String {
    "database: \(message) (\(code))" + (sql.map { " in: \($0)" } ?? "")
  }

  var primary: Int32 { code & 0xff }
}
