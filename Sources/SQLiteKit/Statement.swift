internal import CSQLite

/// A prepared statement, owned by its database's cache.
final class Statement {
  let sql: String
  let handle: OpaquePointer

  init(_ handle: OpaquePointer, sql: String) {
    self.handle = handle
    self.sql = sql
  }

  deinit { sqlite3_finalize(handle) }

  /// Binds all placeholders, in order.
  func bind(_ values: [any Bindable]) throws(DatabaseError) {
    precondition(
      Int(sqlite3_bind_parameter_count(handle)) == values.count, "wrong number of values for: \(sql)")
    for (index, value) in values.enumerated() {
      let code = bind(value.databaseValue, at: Int32(index + 1))
      guard code == SQLITE_OK else { throw failure(code) }
    }
  }

  /// Binds a row's number to the first placeholder, and its values to the others.
  func bind(_ id: Int64, _ values: [DatabaseValue]) throws(DatabaseError) {
    precondition(
      Int(sqlite3_bind_parameter_count(handle)) == values.count + 1, "wrong number of values for: \(sql)")
    var code = sqlite3_bind_int64(handle, 1, id)
    for index in values.indices where code == SQLITE_OK { code = bind(values[index], at: Int32(index + 2)) }
    guard code == SQLITE_OK else { throw failure(code) }
  }

  private func bind(_ value: DatabaseValue, at index: Int32) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(handle, index)
    case .integer(let number): return sqlite3_bind_int64(handle, index, number)
    case .text(var text):
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          // A null pointer would bind NULL.
          guard let start = characters.baseAddress else {
            return podcastfs_sqlite_bind_text(handle, index, "", 0)
          }
          return podcastfs_sqlite_bind_text(handle, index, start, Int32(characters.count))
        }
      }
    case .blob(let bytes):
      if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
      return bytes.withUnsafeBytes {
        podcastfs_sqlite_bind_blob(handle, index, $0.baseAddress, Int32($0.count))
      }
    }
  }

  /// Goes to the next row; false at the end.
  func step() throws(DatabaseError) -> Bool {
    let code = sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw failure(code)
    }
  }

  /// Ready to be bound and run again; holds no value and no lock.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  private func failure(_ code: Int32) -> DatabaseError {
    DatabaseError(code: code, message: String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))), sql: sql)
  }
}
