internal import CSQLite

extension Database {
  /// Runs several statements that have no placeholders and give no rows: schemas, pragmas.
  package func script(_ sql: String) throws(DatabaseError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw DatabaseError(code: code, of: handle) }
  }

  package func run(_ sql: String, _ values: any Bindable...) throws(DatabaseError) {
    try run(sql, values: values)
  }

  package func run(_ sql: String, values: [any Bindable]) throws(DatabaseError) {
    try withStatement(sql, values) { statement throws(DatabaseError) in while try statement.step() {} }
  }

  /// Runs one statement for its effect for each of many rows: what is looked up for a statement is looked up once.
  /// - Parameter row: gives the placeholders their values.
  package func run(
    _ sql: String, rows count: Int, _ row: (Int, inout RowValues) -> Void
  ) throws(DatabaseError) {
    if count == 0 { return }
    try withStatement(sql) { statement throws(DatabaseError) in
      for index in 0..<count {
        statement.reset()
        try statement.bind { row(index, &$0) }
        while try statement.step() {}
      }
    }
  }

  package static func insertion(into table: String, _ columns: [String]) -> String {
    let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))"
  }

  /// The statement that adds a row with these columns, or gives the row with the same first one these values.
  package static func saving(into table: String, _ columns: [String]) -> String {
    let changes = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return "\(insertion(into: table, columns)) ON CONFLICT (\(columns[0])) DO UPDATE SET \(changes)"
  }

  package func all<T>(
    _ sql: String, _ values: any Bindable..., as body: (borrowing Row) -> T
  ) throws(DatabaseError) -> [T] {
    try all(sql, values: values, as: body)
  }

  package func all<T>(
    _ sql: String, values: [any Bindable], as body: (borrowing Row) -> T
  ) throws(DatabaseError) -> [T] {
    try withStatement(sql, values) { statement throws(DatabaseError) in
      var result: [T] = []
      while try statement.step() { result.append(body(Row(statement.handle))) }
      return result
    }
  }

  package func forEach(
    _ sql: String, _ values: any Bindable..., body: (borrowing Row) -> Bool
  ) throws(DatabaseError) {
    try withStatement(sql, values) { statement throws(DatabaseError) in
      while try statement.step() {
        if !body(Row(statement.handle)) { return }
      }
    }
  }

  package func first<T>(
    _ sql: String, _ values: any Bindable..., as body: (borrowing Row) -> T
  ) throws(DatabaseError) -> T? {
    try withStatement(sql, values) { statement throws(DatabaseError) in
      try statement.step() ? body(Row(statement.handle)) : nil
    }
  }

  package func numbers(_ sql: String, _ values: any Bindable...) throws(DatabaseError) -> [Int64] {
    try all(sql, values: values) { $0.int64(0) }
  }

  package func number(_ sql: String, _ values: any Bindable...) throws(DatabaseError) -> Int64? {
    try withStatement(sql, values) { statement throws(DatabaseError) in
      try statement.step() ? Row(statement.handle).int64(0) : nil
    }
  }

  package func exists(_ sql: String, _ values: any Bindable...) throws(DatabaseError) -> Bool {
    try withStatement(sql, values) { statement throws(DatabaseError) in try statement.step() }
  }

  /// Lends a statement that nobody else uses meanwhile: the same text run again inside gets another one.
  private func withStatement<R>(
    _ sql: String, _ body: (Statement) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    let kept = statements.removeValue(forKey: sql)
    let statement = if let kept { kept } else { try prepare(sql) }
    defer {
      statement.reset()
      // Texts made at run time must not fill the memory.
      if statements.count >= 100 { statements.removeAll() }
      statements[sql] = statement
    }
    return try body(statement)
  }

  private func withStatement<R>(
    _ sql: String, _ values: [any Bindable], _ body: (Statement) throws(DatabaseError) -> R
  ) throws(DatabaseError) -> R {
    try withStatement(sql) { statement throws(DatabaseError) in
      try statement.bind { row in for value in values { row.add(value) } }
      return try body(statement)
    }
  }

  private func prepare(_ sql: String) throws(DatabaseError) -> Statement {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK else { throw DatabaseError(code: code, of: handle) }
    guard let prepared else { preconditionFailure("no statement in: \(sql)") }
    return Statement(prepared, sql: sql)
  }
}
