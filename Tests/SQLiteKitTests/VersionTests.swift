import SQLiteKit
import TestSupport
import Testing

/// A bit of the number of a file's version is another one: what the file is of is known by the number's other copy, and
/// nothing is taken for a newer program's that is not.
@Suite struct VersionTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/database" }
  private static let known = 5
  /// As the programs knew before the number was there twice.
  private static let unmarked = 3

  init() throws { directory = try TemporaryDirectory() }

  private static func steps(_ count: Int) -> [(Database) throws -> Void] {
    (1...count).map { number in { try $0.script("CREATE TABLE t\(number) (a)") } }
  }

  /// A database of a version, with its number in one place only where it is of a program of before.
  private func database(_ version: Int, isMarked: Bool = true) throws -> Database {
    let database = try Database(path: path)
    try database.migrate(Self.steps(version))
    if !isMarked { try database.script("PRAGMA application_id = 0") }
    return database
  }

  private func flip(_ bit: Int, of pragma: String, _ database: Database) throws {
    let value = try #require(try database.first("PRAGMA \(pragma)") { $0.int64(0) })
    let flipped = Int32(truncatingIfNeeded: value) ^ Int32(bitPattern: 1 << UInt32(bit))
    try database.script("PRAGMA \(pragma) = \(flipped)")
  }

  private func migrate(_ database: Database) throws {
    try database.migrate(Self.steps(Self.known), unmarked: Self.unmarked)
  }

  @Test(arguments: ["user_version", "application_id"], 0..<32)
  func aFlippedBitLosesNothing(_ pragma: String, _ bit: Int) throws {
    for version in [4, 5] {
      let database = try Database(path: "\(directory.path)/\(version)")
      try database.migrate(Self.steps(version))
      try flip(bit, of: pragma, database)
      #expect(try database.isVersionGenuine(unmarked: Self.unmarked) || pragma == "application_id")
      try migrate(database)
      #expect(try database.first("PRAGMA user_version") { $0.int(0) } == Self.known)
      #expect(try database.exists("SELECT 1 FROM sqlite_master WHERE name = 't5'"))
      // Both are as they were.
      try flip(bit, of: "user_version", database)
      try migrate(database)
    }
  }

  /// Of a program of before, which did not know so many.
  @Test(arguments: 2..<32) func whatNoProgramHasWrittenIsDamage(_ bit: Int) throws {
    let database = try database(3, isMarked: false)
    #expect(try database.isVersionGenuine(unmarked: Self.unmarked))
    try flip(bit, of: "user_version", database)
    #expect(try !database.isVersionGenuine(unmarked: Self.unmarked))
    let error = #expect(throws: DatabaseError.self) { try migrate(database) }
    #expect(error?.isDamaged == true, "\(String(describing: error))")
  }

  @Test(arguments: ["user_version", "application_id"], 0..<32)
  func whatIsNewerIsRefusedAndNeverDamaged(_ pragma: String, _ bit: Int) throws {
    let database = try database(6)
    for isFlipped in [false, true] {
      if isFlipped { try flip(bit, of: pragma, database) }
      let error = #expect(throws: DatabaseError.self) { try migrate(database) }
      #expect(error?.isDamaged == false && error?.isOfOtherShape == false, "\(String(describing: error))")
      #expect(error?.message.contains("newer version") == true)
    }
    #expect(try !database.exists("SELECT 1 FROM sqlite_master WHERE name = 't7'"))
  }

  /// From then on it is there twice.
  @Test func whatAProgramOfBeforeHasMadeIsMarked() throws {
    let before = try database(3, isMarked: false)
    try before.migrate(Self.steps(3), unmarked: Self.unmarked)
    try flip(9, of: "user_version", before)
    try migrate(before)
    #expect(try before.exists("SELECT 1 FROM sqlite_master WHERE name = 't5'"))
  }
}
