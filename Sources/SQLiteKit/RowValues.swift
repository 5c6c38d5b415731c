internal import CSQLite

/// The placeholders of a statement, each given its value in order.
package struct RowValues: ~Copyable {
  private let handle: OpaquePointer
  /// How many have one.
  private(set) var count: Int32 = 0
  /// SQLite's word on the first that could not be given.
  private(set) var code = SQLITE_OK

  init(_ handle: OpaquePointer) { self.handle = handle }

  package mutating func add(_ number: Int64?) {
    guard let number else { return addNull() }
    note(sqlite3_bind_int64(handle, next(), number))
  }

  package mutating func add(_ number: Int?) { add(number.map { Int64($0) }) }

  package mutating func add(_ flag: Bool?) { add(flag.map { $0 ? Int64(1) : 0 }) }

  package mutating func add(_ text: String?) {
    guard var text else { return addNull() }
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

  package mutating func add(_ blob: [UInt8]) {
    let place = next()
    if blob.isEmpty { return note(sqlite3_bind_zeroblob(handle, place, 0)) }
    note(blob.withUnsafeBytes { podcastfs_sqlite_bind_blob(handle, place, $0.baseAddress, Int32($0.count)) })
  }

  mutating func add(_ value: DatabaseValue) {
    switch value {
    case .null: addNull()
    case .integer(let number): add(number)
    case .text(let text): add(text)
    case .blob(let bytes): add(bytes)
    }
  }

  private mutating func addNull() { note(sqlite3_bind_null(handle, next())) }

  private mutating func next() -> Int32 {
    count += 1
    return count
  }

  private mutating func note(_ code: Int32) {
    if self.code == SQLITE_OK { self.code = code }
  }
}
