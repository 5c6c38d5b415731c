internal import CSQLite

/// A type whose values can be bound to a placeholder.
package protocol Bindable: Sendable {
  /// Gives the next placeholder this value.
  func bind(to values: inout RowValues)
}

extension Int64: Bindable {
  package func bind(to values: inout RowValues) { values.add(self) }
}

extension Int: Bindable {
  package func bind(to values: inout RowValues) { values.add(Int64(self)) }
}

/// As 0 or 1.
extension Bool: Bindable {
  package func bind(to values: inout RowValues) { values.add(self ? 1 as Int64 : 0) }
}

extension String: Bindable {
  package func bind(to values: inout RowValues) { values.add(self) }
}

/// Bytes, as a blob.
extension [UInt8]: Bindable {
  package func bind(to values: inout RowValues) { values.add(self) }
}

/// nil is NULL.
extension Optional: Bindable where Wrapped: Bindable {
  package func bind(to values: inout RowValues) {
    if let self { self.bind(to: &values) } else { values.addNull() }
  }
}

/// The placeholders of a statement, each given its value in order.
package struct RowValues: ~Copyable {
  private let handle: OpaquePointer
  /// How many have one.
  fileprivate private(set) var count: Int32 = 0
  /// SQLite's word on the first that could not be given.
  fileprivate private(set) var code = SQLITE_OK

  fileprivate init(_ handle: OpaquePointer) { self.handle = handle }

  package mutating func add(_ value: some Bindable) { value.bind(to: &self) }

  fileprivate mutating func addNull() { note(sqlite3_bind_null(handle, next())) }

  fileprivate mutating func add(_ number: Int64) { note(sqlite3_bind_int64(handle, next(), number)) }

  fileprivate mutating func add(_ text: String) {
    var text = text
    let place = next()
    let code = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        // A null pointer would bind NULL.
        guard let start = characters.baseAddress else {
          return podcastfs_sqlite_bind_text(handle, place, "", 0)
        }
        return podcastfs_sqlite_bind_text(handle, place, start, Int32(characters.count))
      }
    }
    note(code)
  }

  fileprivate mutating func add(_ blob: [UInt8]) {
    let place = next()
    if blob.isEmpty { return note(sqlite3_bind_zeroblob(handle, place, 0)) }
    note(blob.withUnsafeBytes { podcastfs_sqlite_bind_blob(handle, place, $0.baseAddress, Int32($0.count)) })
  }

  private mutating func next() -> Int32 {
    count += 1
    return count
  }

  private mutating func note(_ code: Int32) {
    if self.code == SQLITE_OK { self.code = code }
  }
}

/// A prepared statement, owned by its database's cache.
final class Statement {
  let sql: String
  let handle: OpaquePointer

  init(_ handle: OpaquePointer, sql: String) {
    self.handle = handle
    self.sql = sql
  }

  deinit { sqlite3_finalize(handle) }

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
