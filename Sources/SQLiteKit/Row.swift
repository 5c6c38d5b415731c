internal import CSQLite

/// A column of an answer, by its place from 0.
package protocol Column {
  var place: Int { get }
}

extension Int: Column {
  @inlinable package var place: Int { self }
}

/// The columns of a query in their order, each by its name: what is asked for and what is read cannot differ.
///
/// A case is called as its column, in Swift's way: `mediaKey` for `media_key`.
package protocol ColumnList: Column, CaseIterable, RawRepresentable, Sendable where RawValue == Int {}

extension ColumnList {
  @inlinable package var place: Int { rawValue }

  /// For a SELECT.
  /// - Parameter table: the table's name in the query.
  package static func list(of table: String) -> String {
    allCases.map { "\(table).\($0.name)" }.joined(separator: ", ")
  }

  package var name: String {
    var name = ""
    var wasLower = false
    for character in "\(self)" {
      // An abbreviation is one word: feedURL is feed_url.
      if character.isUppercase, wasLower { name += "_" }
      name += character.lowercased()
      wasLower = character.isLowercase
    }
    return name
  }
}

/// One row of an answer, to be read where it is handed over.
///
/// SQLite converts a value of another type than the one asked for (https://sqlite.org/c3ref/column_blob.html).
package struct Row: ~Copyable {
  let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  @usableFromInline package func isNull(at place: Int) -> Bool {
    sqlite3_column_type(handle, Int32(place)) == SQLITE_NULL
  }

  @usableFromInline package func integer(at place: Int) -> Int64 {
    sqlite3_column_int64(handle, Int32(place))
  }

  @usableFromInline package func text(at place: Int) -> String? {
    // The text must be asked for before its length: that makes SQLite convert it.
    guard let text = sqlite3_column_text(handle, Int32(place)) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, Int32(place)))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  @usableFromInline package func bytes(at place: Int) -> [UInt8] {
    guard let bytes = sqlite3_column_blob(handle, Int32(place)) else { return [] }
    let count = Int(sqlite3_column_bytes(handle, Int32(place)))
    return Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }
}

/// The values of a row. NULL is nil, or else 0, false or empty.
extension Row {
  @inlinable package func int64(_ column: some Column) -> Int64 { integer(at: column.place) }

  @inlinable package func int64IfPresent(_ column: some Column) -> Int64? {
    isNull(at: column.place) ? nil : integer(at: column.place)
  }

  @inlinable package func int(_ column: some Column) -> Int { Int(int64(column)) }

  @inlinable package func bool(_ column: some Column) -> Bool { int64(column) != 0 }

  @inlinable package func string(_ column: some Column) -> String { text(at: column.place) ?? "" }

  @inlinable package func stringIfPresent(_ column: some Column) -> String? {
    text(at: column.place)
  }

  @inlinable package func blob(_ column: some Column) -> [UInt8] { bytes(at: column.place) }
}
