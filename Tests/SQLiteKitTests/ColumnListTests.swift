import SQLiteKit
import Testing

@Suite struct ColumnListTests {
  private enum Column: Int, ColumnList {
    case id, feedURL, isDated, `extension`, chaptersURL, ttl
  }

  @Test func columnsAreCalledAsInSQL() {
    #expect(Column.list(of: "e") == "e.id, e.feed_url, e.is_dated, e.extension, e.chapters_url, e.ttl")
    #expect(Column.count == 6)
  }

  @Test func whatIsPutInByNamesIsReadByNames() throws {
    let database = try Database(path: ":memory:")
    try database.script(
      "CREATE TABLE t (ttl, id INTEGER PRIMARY KEY, extension, feed_url, is_dated, chapters_url)")
    let columns = ["feed_url", "id", "is_dated", "chapters_url"]
    try database.run(Database.insertion(into: "t", columns), "http://a/", Int64(7), true, String?.none)
    try database.run(Database.change(of: "t", ["ttl", "extension"]), 60, ".mp3", 7)
    let row = try database.first("SELECT 1, \(Column.list(of: "t")) FROM t") { row in
      (
        row.int64(Column.id, from: 1), row.string(Column.feedURL, from: 1), row.bool(Column.isDated, from: 1),
        row.string(Column.extension, from: 1), row.stringIfPresent(Column.chaptersURL, from: 1),
        row.intIfPresent(Column.ttl, from: 1)
      )
    }
    let found = try #require(row)
    #expect(found == (7, "http://a/", true, ".mp3", nil, 60))
  }
}
