internal import CSQLite

/// One row of a query's result. It is valid only in the closure that gets it. NULL is nil, or else 0, false or empty.
///
/// SQLite converts a value of another type than the one asked for (https://sqlite.org/c3ref/column_blob.html).
package struct Row: ~Copyable {
  let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }
  package func isNull(at place: Int) -> Bool { sqlite3_column_type(handle, Int32(place)) == SQLITE_NULL }
  package func int64(_ place: Int) -> Int64 { sqlite3_column_int64(handle, Int32(place)) }
  package func int64IfPresent(_ place: Int) -> Int64? { isNull(at: place) ? nil : int64(place) }
  package func int(_ place: Int) -> Int { Int(int64(place)) }
  package func bool(_ place: Int) -> Bool { int64(place) != 0 }
  package func string(_ place: Int) -> String { stringIfPresent(place) ?? "" }

  package func stringIfPresent(_ place: Int) -> String? {
    // The text must be asked for before its length: that makes SQLite convert it.
    guard let text = sqlite3_column_text(handle, Int32(place)) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, Int32(place)))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  package func blob(_ place: Int) -> [UInt8] {
    guard let bytes = sqlite3_column_blob(handle, Int32(place)) else { return [] }
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, Int32(place)))))
  }
}
