package import PodcastModel
package import SQLiteKit

extension WebAddress: ColumnValue {
  package func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    forRequest.bind(to: statement, at: place)
  }

  package init(at place: Int, of row: borrowing Row) { self.init(row.string(place)) }
}

extension MediaKey: ColumnValue {
  package func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    bytes.bind(to: statement, at: place)
  }

  /// A damaged file says anything: what cannot be a key becomes one that names nothing in the cache.
  package init(at place: Int, of row: borrowing Row) {
    let bytes = row.blob(place)
    self = MediaKey(bytes: bytes) ?? MediaKey(address: WebAddress("damaged \(Hexadecimal.text(bytes))"))
  }
}

extension RowCoder {
  /// A text a line; NULL for none.
  mutating func code(_ column: StaticString, lines: inout [String]) {
    var text: String?
    if isSaving, !lines.isEmpty {
      text = lines.map { $0.replacing("\n", with: " ") }.joined(separator: "\n")
    }
    code(column, &text)
    if isReading { lines = text?.split(separator: "\n").map(String.init) ?? [] }
  }

  /// A value as bytes. What cannot be read, in a damaged file, stays as it is.
  mutating func code<Value: BinaryValue>(_ column: StaticString, packed value: inout Value) {
    var bytes = isSaving ? value.encoded : []
    code(column, &bytes)
    if isReading, let read = try? Value(decoding: bytes[...]) { value = read }
  }

  /// A time, where it can be one: what else has written to the file may have made it anything.
  mutating func code(_ column: StaticString, time: inout Int64?) {
    code(column, &time)
    if let read = time, !(-(1 << 40)...(1 << 40)).contains(read) { time = nil }
  }
}
