internal import CSQLite

/// One row of an answer, to be read where it is handed over. Columns count from 0.
///
/// SQLite converts a value of another type than the one asked for (https://sqlite.org/c3ref/column_blob.html).
package struct Row: ~Copyable {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  @usableFromInline package func isNull(_ column: Int) -> Bool {
    sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL
  }

  /// 0 where the column is NULL.
  @usableFromInline package func int64(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

  @usableFromInline package func int64IfPresent(_ column: Int) -> Int64? {
    isNull(column) ? nil : int64(column)
  }

  /// 0 where the column is NULL.
  @usableFromInline package func int(_ column: Int) -> Int { Int(int64(column)) }

  @usableFromInline package func intIfPresent(_ column: Int) -> Int? { isNull(column) ? nil : int(column) }

  /// false where the column is NULL or 0.
  @usableFromInline package func bool(_ column: Int) -> Bool { int64(column) != 0 }

  @usableFromInline package func boolIfPresent(_ column: Int) -> Bool? { isNull(column) ? nil : bool(column) }

  /// Empty where the column is NULL.
  @usableFromInline package func string(_ column: Int) -> String { stringIfPresent(column) ?? "" }

  @usableFromInline package func stringIfPresent(_ column: Int) -> String? {
    // The text must be asked for before its length: that makes SQLite convert it.
    guard let text = sqlite3_column_text(handle, Int32(column)) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// Empty where the column is NULL.
  @usableFromInline package func blob(_ column: Int) -> [UInt8] {
    guard let bytes = sqlite3_column_blob(handle, Int32(column)) else { return [] }
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }
}
