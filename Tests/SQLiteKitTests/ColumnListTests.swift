import SQLiteKit
import Testing

@Suite struct ColumnListTests {
  private enum Column: Int, ColumnList {
    case id, feedURL, isDated, `extension`, chaptersURL, ttl
  }

  @Test func columnsAreCalledAsInSQL() {
    #expect(Column.list(of: "e") == "e.id, e.feed_url, e.is_dated, e.extension, e.chapters_url, e.ttl")
  }
}

@Suite struct RowCoderTests {
  private struct Item: RowCoded, Equatable {
    var id: Int64 = 0
    var title: String?
    var isDated = false
    var mark = 0
    var count = 0

    mutating func code(_ row: inout RowCoder) {
      row.code("t.id", &id)
      row.code("t.title", &title)
      row.save("t.length", title?.utf8.count)
      row.read("t.mark", &mark)
      row.save("o.id", id)
      row.code("o.is_dated", &isDated)
      row.read("(SELECT count(*) FROM t)", &count)
    }
  }

  @Test func `A value is saved in the columns of its tables, and read from all`() throws {
    let database = try Database(path: ":memory:")
    try database.script(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, title, length, mark DEFAULT 9);
      CREATE TABLE o (id INTEGER PRIMARY KEY, is_dated)
      """)
    #expect(Item.columns == "t.id, t.title, t.mark, o.is_dated, (SELECT count(*) FROM t)")
    var items = (0..<3).map { Item(id: $0, title: $0 == 1 ? nil : "é\($0)", isDated: $0 == 2) }
    try database.save(items, into: "t", as: "t")
    try database.save([items[2]], into: "o", as: "o")
    try database.run("UPDATE t SET mark = 7 WHERE id = 0")
    items[0].title = "other"
    try database.save([items[0]], into: "t", as: "t")
    let read = try database.all("SELECT 'first', \(Item.columns) FROM t, o ORDER BY t.id") {
      Item($0, from: 1)
    }
    #expect(read.map(\.title) == ["other", nil, "é2"] && read.map(\.mark) == [7, 9, 9])
    #expect(read.map(\.isDated) == [true, true, true] && read.map(\.count) == [3, 3, 3])
    #expect(try database.numbers("SELECT length FROM t ORDER BY id") == [5, 0, 3])
  }
}
