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
    try bind { row in for value in values { row.add(value.databaseValue) } }
  }

  /// Binds all placeholders, in order.
  func bind(by body: (inout RowValues) -> Void) throws(DatabaseError) {
    var values = RowValues(handle)
    body(&values)
    precondition(
      sqlite3_bind_parameter_count(handle) == values.count, "wrong number of values for: \(sql)")
    guard values.code == SQLITE_OK else { throw failure(values.code) }
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
    DatabaseError(code: code, of: sqlite3_db_handle(handle), sql: sql)
  }
}
