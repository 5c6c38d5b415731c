/// The columns of a query in their order, each by its name: what is asked for and what is read cannot differ.
///
/// A case is called as its column, in Swift's way: `mediaKey` for `media_key`.
package protocol ColumnList: CaseIterable, RawRepresentable, Sendable where RawValue == Int {}

extension ColumnList {
  /// For a SELECT.
  /// - Parameter table: the table's name in the query.
  package static func list(of table: String) -> String {
    allCases.map { "\(table).\($0.name)" }.joined(separator: ", ")
  }

  package static var count: Int { allCases.count }

  /// The column's name.
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

extension Row {
  /// A row's columns by their names.
  /// - Parameter first: the column where the list begins.
  @inlinable package func int64(_ column: some ColumnList, from first: Int = 0) -> Int64 {
    int64(first + column.rawValue)
  }

  @inlinable package func int64IfPresent(_ column: some ColumnList, from first: Int = 0) -> Int64? {
    int64IfPresent(first + column.rawValue)
  }

  @inlinable package func int(_ column: some ColumnList, from first: Int = 0) -> Int {
    int(first + column.rawValue)
  }

  @inlinable package func intIfPresent(_ column: some ColumnList, from first: Int = 0) -> Int? {
    intIfPresent(first + column.rawValue)
  }

  @inlinable package func bool(_ column: some ColumnList, from first: Int = 0) -> Bool {
    bool(first + column.rawValue)
  }

  @inlinable package func boolIfPresent(_ column: some ColumnList, from first: Int = 0) -> Bool? {
    boolIfPresent(first + column.rawValue)
  }

  @inlinable package func string(_ column: some ColumnList, from first: Int = 0) -> String {
    string(first + column.rawValue)
  }

  @inlinable package func stringIfPresent(_ column: some ColumnList, from first: Int = 0) -> String? {
    stringIfPresent(first + column.rawValue)
  }

  @inlinable package func blob(_ column: some ColumnList, from first: Int = 0) -> [UInt8] {
    blob(first + column.rawValue)
  }
}
