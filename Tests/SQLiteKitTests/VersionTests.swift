import SQLiteKit
import TestSupport
import Testing

@Suite struct VersionTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test func `Tables are made once, and those of another version are refused`() throws {
    let database = try Database(path: directory.path("database"))
    #expect(try database.version() == nil)
    for _ in 0..<2 { try database.makeTables(version: 2, "CREATE TABLE t (a)") }
    #expect(try database.version() == 2)
    for other in [1, 3, -7, 1 << 30] {
      let error = #expect(throws: DatabaseError.self) {
        try database.makeTables(version: other, "CREATE TABLE u (a)")
      }
      #expect(error?.isOfOtherVersion == true && error?.isDamaged == false)
    }
    #expect(try !database.exists("SELECT 1 FROM sqlite_schema WHERE name = 'u'"))
  }
}
