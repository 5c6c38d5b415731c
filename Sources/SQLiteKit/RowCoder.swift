internal import CSQLite

/// A value whose columns are listed once: for SELECT, for reading a row, and for saving it.
package protocol RowCoded {
  /// What a reader begins with.
  init()
  mutating func code(_ row: inout RowCoder)
}

/// A value that one column holds.
package protocol ColumnValue: Bindable { init(at place: Int, of row: borrowing Row) }

/// Lists the columns of a value ("p.title": those of table `p`), reads them or saves them.
package struct RowCoder: ~Copyable {
  private enum Task { case list, read, save }
  private let task: Task
  /// The table whose columns are listed or saved; nil when a row of all tables is read.
  private let table: String?
  private let handle: OpaquePointer?
  private(set) var place: Int
  private(set) var names: [String] = []
  private(set) var result = SQLITE_OK
  fileprivate init(listing table: String?) { (task, self.table, handle, place) = (.list, table, nil, 0) }

  fileprivate init(reading row: borrowing Row, from first: Int) {
    (task, table, handle, place) = (.read, nil, row.handle, first)
  }

  init(saving table: String, to statement: OpaquePointer, behind place: Int) {
    (task, self.table, handle, self.place) = (.save, table, statement, place)
  }

  package var isReading: Bool { task == .read }
  package var isSaving: Bool { task == .save }

  /// A column that is read and saved.
  package mutating func code(_ column: StaticString, _ value: inout some ColumnValue) {
    if isReading { take(&value) } else { put(column, value) }
  }

  /// A column that is read, and saved by others.
  package mutating func read(_ column: StaticString, _ value: inout some ColumnValue) {
    if isReading { take(&value) } else if table == nil { names.append("\(column)") }
  }

  /// A column that is saved, and read by nobody who reads the value.
  package mutating func save(_ column: StaticString, _ value: @autoclosure () -> some Bindable) {
    if table != nil { put(column, value()) }
  }

  private mutating func take<Value: ColumnValue>(_ value: inout Value) {
    guard let handle else { return }
    value = Value(at: place, of: Row(handle))
    place += 1
  }

  private mutating func put(_ column: StaticString, _ value: some Bindable) {
    guard let table else { return names.append("\(column)") }
    // Compares the first byte alone: that decides for most columns, and is quick.
    guard column.utf8Start[0] == table.utf8.first else { return }
    if task == .list { return names.append(String("\(column)".dropFirst(2))) }
    guard let handle else { return }
    place += 1
    let code = value.bind(to: handle, at: Int32(place))
    if result == SQLITE_OK { result = code }
  }
}

extension RowCoded {
  /// For a SELECT.
  package static var columns: String { names(of: nil).joined(separator: ", ") }
  package static var columnCount: Int { names(of: nil).count }

  /// - Parameter first: the column where `columns` begin.
  package init(_ row: borrowing Row, from first: Int = 0) {
    self.init()
    var coder = RowCoder(reading: row, from: first)
    code(&coder)
  }

  fileprivate static func names(of table: String?) -> [String] {
    var value = Self()
    var coder = RowCoder(listing: table)
    value.code(&coder)
    return coder.names
  }
}

extension Database {
  /// Adds rows, or gives those with the same first column these values.
  /// - Parameter alias: what the table is called in the values' columns: one letter.
  package func save<Value: RowCoded>(
    _ values: [Value], into table: String, as alias: String
  ) throws(DatabaseError) {
    try run(Self.saving(into: table, Value.names(of: alias)), rows: values.count) { place, row in
      var value = values[place]
      var coder = RowCoder(saving: alias, to: row.handle, behind: Int(row.count))
      value.code(&coder)
      row.count = Int32(coder.place)
      if row.code == SQLITE_OK { row.code = coder.result }
    }
  }
}

extension Int64: ColumnValue {
  package init(at place: Int, of row: borrowing Row) { self = row.int64(place) }
}

extension Int: ColumnValue { package init(at place: Int, of row: borrowing Row) { self = row.int(place) } }
extension Bool: ColumnValue { package init(at place: Int, of row: borrowing Row) { self = row.bool(place) } }

extension String: ColumnValue {
  package init(at place: Int, of row: borrowing Row) { self = row.string(place) }
}

extension [UInt8]: ColumnValue {
  package init(at place: Int, of row: borrowing Row) { self = row.blob(place) }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  package init(at place: Int, of row: borrowing Row) {
    self = row.isNull(at: place) ? nil : Wrapped(at: place, of: row)
  }
}
