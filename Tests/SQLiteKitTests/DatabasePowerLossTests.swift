import SQLiteKit
import TestSupport
import Testing

/// Of what commits left to the system, what has been brought to the disk is there when the power has gone.
@Suite(.enabled(if: TestDisk.isPossible, "\(TestDisk.requirement)")) struct DatabasePowerLossTests {
  @Test func whatTheFlushedLogHasIsThere() throws {
    let disk = try TestDisk()
    let path = disk.path + "/d.sqlite"
    var options = Database.Options()
    options.synchronous = .normal
    var database: Database? = try Database(path: path, options: options)
    try database?.script("CREATE TABLE t (a)")
    for number in 1...100 { try database?.run("INSERT INTO t VALUES (?)", number) }
    try Database.flushLog(of: path)
    try database?.run("INSERT INTO t VALUES (101)")
    try disk.losePower { database = nil }
    let numbers = try Database(path: path).all("SELECT a FROM t ORDER BY a LIMIT 100") { $0.int64(0) }
    #expect(numbers == Array(1...100))
  }

  @Test func aFlushThatTheDiskRefusesIsNoSuccess() throws {
    let disk = try TestDisk()
    let path = disk.path + "/d.sqlite"
    var options = Database.Options()
    options.synchronous = .normal
    var database: Database? = try Database(path: path, options: options)
    try database?.script("CREATE TABLE t (a)")
    try disk.losePower {
      #expect(throws: (any Error).self) { try Database.flushLog(of: path) }
      database = nil
    }
  }
}
