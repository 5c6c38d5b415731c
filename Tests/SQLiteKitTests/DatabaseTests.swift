import Glibc
import PosixKit
import SQLiteKit
import TestSupport
import Testing

@Suite struct DatabaseTests {
  struct Stop: Error {}

  private func table() throws -> Database {
    let database = try Database(path: ":memory:")
    try database.script("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a, b, c, d)")
    return database
  }

  @Test func everyKindOfValueComesBackAsItWasStored() throws {
    let database = try table()
    try database.run(
      "INSERT INTO t (a, b, c, d) VALUES (?, ?, ?, ?)", Int64.min, "Ünï\u{0}cödé 🎙", false,
      [0, 255] as [UInt8])
    try database.run(
      "INSERT INTO t (a, b, c, d) VALUES (?, ?, ?, ?)", true, "", nil as Int64?, [] as [UInt8])
    let rows = try database.all("SELECT a, b, c, d FROM t ORDER BY id") {
      ($0.int64(0), $0.stringIfPresent(1), $0.int64IfPresent(2), $0.blob(3))
    }
    #expect(rows[0] == (Int64.min, "Ünï\u{0}cödé 🎙", 0, [0, 255]))
    #expect(rows[1].0 == 1)
    #expect(rows[1].1 == "")
    #expect(rows[1].2 == nil)
    #expect(rows[1].3 == [])
  }

  @Test func aTransactionThatThrowsLeavesNothing() throws {
    let database = try table()
    #expect(throws: Stop.self) {
      try database.transaction {
        try database.run("INSERT INTO t (a) VALUES (1)")
        try database.transaction { try database.run("INSERT INTO t (a) VALUES (2)") }
        throw Stop()
      }
    }
    #expect(try database.first("SELECT count(*) FROM t") { $0.int(0) } == 0)
    #expect(!database.isInTransaction)
  }

  @Test func theSameStatementMayRunInsideItself() throws {
    let database = try table()
    for number in 1...3 { try database.run("INSERT INTO t (a) VALUES (?)", number) }
    let sums = try database.all("SELECT a FROM t WHERE a > ?", 0) { row in
      row.int(0) * ((try? database.all("SELECT a FROM t WHERE a > ?", 1) { $0.int(0) }.count) ?? 0)
    }
    #expect(sums == [2, 4, 6])
  }

  @Test func errorsDoNotNameTheValuesOfAStatement() throws {
    let database = try table()
    try database.script("CREATE UNIQUE INDEX i ON t (a)")
    try database.run("INSERT INTO t (a) VALUES (?)", "a secret")
    let error = #expect(throws: DatabaseError.self) {
      try database.run("INSERT INTO t (a) VALUES (?)", "a secret")
    }
    #expect(error?.errno == .EEXIST)
    #expect(error?.description.contains("secret") == false)
    #expect(throws: DatabaseError.self) { try database.run("SELEKT") }
  }

  @Test(.enabled(if: geteuid() != 0), arguments: ["-wal", "-shm"])
  func whatMayNotBeUsedIsNamed(_ suffix: String) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/a.sqlite"
    try Database(path: path).script("CREATE TABLE t (a)")
    try Directories.replace(path + suffix, with: [1], mode: 0)
    let error = #expect(throws: DatabaseError.self) { try Database(path: path) }
    #expect(error?.description == "\(path)\(suffix): \(Errno.EACCES)")
    #expect(error?.errno == .EACCES)
  }

  @Test func aReaderSeesTheLastCommitWhileAnotherConnectionWrites() throws {
    let directory = try TemporaryDirectory()
    let writer = try Database(path: "\(directory.path)/a.sqlite")
    try writer.script("CREATE TABLE t (a)")
    var options = Database.Options()
    options.isReadOnly = true
    options.busyTimeout = 0
    let reader = try Database(path: "\(directory.path)/a.sqlite", options: options)
    try writer.transaction {
      try writer.run("INSERT INTO t VALUES (1)")
      #expect(try reader.first("SELECT count(*) FROM t") { $0.int(0) } == 0)
    }
    #expect(try reader.first("SELECT count(*) FROM t") { $0.int(0) } == 1)
    let error = #expect(throws: DatabaseError.self) { try reader.run("INSERT INTO t VALUES (2)") }
    #expect(error?.errno == .EROFS)
  }

  @Test func aSecondWriterWaitsNoLongerThanItsTimeout() throws {
    let directory = try TemporaryDirectory()
    var options = Database.Options()
    options.busyTimeout = 0.5
    let first = try Database(path: "\(directory.path)/a.sqlite", options: options)
    let second = try Database(path: "\(directory.path)/a.sqlite", options: options)
    var waits: [Double] = []
    try first.transaction {
      // Other programs of the machine delay one of them.
      for _ in 0..<4 {
        let start = MonotonicTime.now
        let error = #expect(throws: DatabaseError.self) { try second.transaction {} }
        waits.append(MonotonicTime.now.seconds(since: start))
        #expect(error?.isBusy == true)
      }
    }
    #expect(try (0.5..<0.52).contains(#require(waits.min())))
    try second.transaction {}
  }

  /// A commit waits for the disk, and every mount and command begins so.
  @Test func openingAFileThatIsAsItIsToBeWritesNothing() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/database"
    let tables = "CREATE TABLE t (a)"
    do { try Database(path: path).makeTables(version: 1, tables) }
    let database = try Database(path: path)
    try database.makeTables(version: 1, tables)
    var status = stat()
    #expect(stat(path + "-wal", &status) != 0 || status.st_size == 0)
  }

  @Test func severalConnectionsMayOpenANewFileAtOnce() throws {
    let directory = try TemporaryDirectory()
    let results = Monitor<[Bool]>([])
    for _ in 0..<6 {
      PosixThread.start("opener") {
        let opened: Bool
        do {
          try Database(path: "\(directory.path)/a.sqlite").makeTables(version: 1, "CREATE TABLE t (a)")
          opened = true
        } catch {
          opened = false
        }
        results.withLockNotifying { $0.append(opened) }
      }
    }
    let all: [Bool]? = results.wait(until: .after(patience)) { $0.count == 6 ? $0 : nil }
    #expect(all == Array(repeating: true, count: 6))
  }

  @Test func aConnectionBehindAMonitorServesSeveralThreads() throws {
    let database = try Monitor(Database(path: ":memory:"))
    try database.withLock { try $0.script("CREATE TABLE t (a)") }
    let done = Monitor(0)
    for number in 0..<4 {
      PosixThread.start("inserter") {
        for _ in 0..<50 { try? database.withLock { try $0.run("INSERT INTO t VALUES (?)", number) } }
        done.withLockNotifying { $0 += 1 }
      }
    }
    #expect(done.wait(until: .after(patience)) { $0 == 4 ? true : nil } == true)
    #expect(try database.withLock { try $0.first("SELECT count(*) FROM t") { $0.int(0) } } == 200)
  }

  /// SQLite lets no two of them run at once, and has no patience for that.
  @Test func aCheckpointWaitsForAnother() throws {
    let home = try TemporaryDirectory()
    let path = home.path("a.sqlite")
    let writer = try Database(path: path)
    try writer.script("CREATE TABLE t (a)")
    let reader = try Database(path: path)
    let ends = [Monitor<Bool?>(nil), Monitor<Bool?>(nil)]
    func begin(_ number: Int) {
      let end = ends[number]
      PosixThread.start("checkpoint") {
        let isDone = try? Database(path: path).checkpoint(waiting: patience)
        end.withLockNotifying { $0 = isDone ?? false }
      }
    }
    try reader.snapshot {
      #expect(try reader.first("SELECT count(*) FROM t") { $0.int(0) } == 0)
      try writer.run("INSERT INTO t VALUES (1)")
      begin(0)
      // It waits for the reader, and lets no other begin.
      #expect(try eventually { try writer.first("PRAGMA wal_checkpoint(passive)") { $0.int(1) } == -1 })
      begin(1)
      #expect(ends[1].wait(until: .after(0.3)) { $0 } == nil)
    }
    #expect(ends.allSatisfy { $0.wait(until: .after(patience)) { $0 } == true })
  }
}
