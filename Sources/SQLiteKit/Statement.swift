internal import CSQLite

package protocol Bindable: Sendable {
  /// Gives a statement's placeholder this value.
  /// - Returns: SQLite's result code.
  func bind(to statement: OpaquePointer, at place: Int32) -> Int32
}

extension Bindable where Self: BinaryInteger {
  package func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    sqlite3_bind_int64(statement, place, Int64(self))
  }
}

extension Int64: Bindable {}
extension Int: Bindable {}

extension Bool: Bindable {
  package func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    sqlite3_bind_int64(statement, place, self ? 1 : 0)
  }
}

extension String: Bindable {
  package func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    podcastfs_sqlite_bind_text(statement, place, self, Int32(utf8.count))
  }
}

extension [UInt8]: Bindable {
  package func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    if isEmpty { return sqlite3_bind_zeroblob(statement, place, 0) }
    return podcastfs_sqlite_bind_blob(statement, place, self, Int32(count))
  }
}

extension Optional: Bindable where Wrapped: Bindable {
  package func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    self?.bind(to: statement, at: place) ?? sqlite3_bind_null(statement, place)
  }
}

/// The placeholders of a statement, each given its value in order.
package struct RowValues: ~Copyable {
  let handle: OpaquePointer
  var count: Int32 = 0
  /// SQLite's word on the first that could not be given.
  var code = SQLITE_OK

  package mutating func add(_ value: some Bindable) {
    count += 1
    let code = value.bind(to: handle, at: count)
    if self.code == SQLITE_OK { self.code = code }
  }
}

final class Statement {
  let sql: String
  let handle: OpaquePointer

  init(_ handle: OpaquePointer, sql: String) {
    (self.handle, self.sql) = (handle, sql)
  }

  deinit { sqlite3_finalize(handle) }

  func bind(by body: (inout RowValues) -> Void) throws(DatabaseError) {
    var values = RowValues(handle: handle)
    body(&values)
    precondition(sqlite3_bind_parameter_count(handle) == values.count, "wrong number of values for: \(sql)")
    guard values.code == SQLITE_OK else { throw failure(values.code) }
  }

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
    DatabaseError(code: code, of: sqlite3_db_handle(handle))
  }
}
