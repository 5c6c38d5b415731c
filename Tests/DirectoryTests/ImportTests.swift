import Directory
import Glibc
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

@Suite struct ImportTests {
  private let installation: Installation

  init() throws { installation = try Installation() }

  private func archive(_ name: String = "podcastindex_feeds.db") throws -> [UInt8] {
    let database = try Directories.read(try installation.dumpFile([Installation.row("Harbour Lights")]))
    return Gzip.stored(Tar.member(name, database) + Tar.end)
  }

  @Test(arguments: ["podcastindex_feeds.db", "./podcastindex_feeds.db"])
  func thePublishedArchiveIsInstalledAndNothingElseIsLeft(_ name: String) throws {
    let file = try installation.folder.write("dump.tgz", archive(name))
    let facts = try installation.install(file)
    #expect((facts.podcasts, facts.refused, facts.source, facts.identity) == (1, 0, "dump.tgz", "etag"))
    #expect(facts.made == Installation.now && facts.bytes > 0)
    #expect(try installation.titles("harbour") == ["Harbour Lights"])
    #expect(installation.leftovers == [])
  }

  @Test func theArchiveOfTheSystemsTarIsRead() throws {
    _ = try installation.dumpFile([Installation.row("Harbour Lights")])
    let file = installation.folder.path("dump.tgz")
    let end = try ChildProcess.run([
      "tar", "-czf", file, "-C", installation.folder.path, "./podcastindex_feeds.db",
    ])
    #expect(end.status == 0)
    #expect(try installation.install(file).podcasts == 1)
  }

  @Test func theDatabaseAloneIsTakenPlainAndCompressed() throws {
    let plain = try installation.dumpFile([Installation.row("One")])
    #expect(try installation.install(plain).podcasts == 1)
    let compressed = try installation.folder.write("dump.gz", Gzip.stored(try Directories.read(plain)))
    #expect(try installation.install(compressed).podcasts == 1)
    // What is the user's own stays.
    #expect(Directories.exists(plain))
    let pipe = try Pipe()
    _ = try ChildProcess.start("/bin/cat", [plain], files: [nil, pipe.writer.rawValue, nil])
    let reader = pipe.takeReader()
    #expect(try installation.install("/proc/self/fd/\(reader.rawValue)").podcasts == 1)
  }

  @Test func aNewDumpTakesTheOldOnesPlaceForWhoHasItOpen() throws {
    try installation.install([Installation.row("One")])
    #expect(try installation.titles("one") == ["One"])
    try installation.install([Installation.row("Two")])
    #expect(try installation.titles("one") == [] && installation.titles("two") == ["Two"])
  }

  @Test func progressTellsOfEachStage() throws {
    var stages: [DirectoryImport.Stage] = []
    let file = try installation.folder.write("dump.tgz", archive())
    try installation.install(file) { stages.append($0) }
    let size = try Int64(Directories.read(file).count)
    #expect(stages.contains(.unpacking(size, of: size)) && stages.contains(.checking))
    #expect(stages.last == .writing(1, of: 1))
  }

  @Test func whatIsNoDumpIsRefusedAndTheOldDirectoryStays() throws {
    try installation.install([Installation.row("One")])
    let good = try archive()
    var damaged = good
    for place in 2000..<3000 { damaged[place] ^= 0xFF }
    let database = try Directories.read(try installation.dumpFile([Installation.row("Two")]))
    let cases: [(String, [UInt8], String)] = [
      (
        "a text", Array("403 Forbidden: please identify".utf8),
        "is a text, not a dump of Podcast Index: 403 Forbidden"
      ),
      ("nothing", [], "it is empty"),
      ("a picture", [0x89, 0x50, 0x4E, 0x47, 0, 0, 0, 0], "is not a dump"),
      ("a cut archive", Array(good.prefix(good.count / 2)), "cut short"),
      (
        "damaged data", damaged, "damaged"
      ),
      (
        "two files", Gzip.stored(Tar.member("a.db", database) + Tar.member("b.db", database)),
        "more than one file"
      ),
      ("a symbolic link", Gzip.stored(Tar.header("a.db", size: 0, type: "2")), "a link"),
      ("a hard link", Gzip.stored(Tar.header("a.db", size: 0, type: "1")), "a link"),
      ("a folder", Gzip.stored(Tar.header("./", size: 0, type: "5")), "a link or a folder"),
      ("a place outside", Gzip.stored(Tar.member("../a.db", database)), "outside"),
      ("the root", Gzip.stored(Tar.member("/tmp/a.db", database)), "outside"),
      ("a bomb", Gzip.stored(Tar.header("a.db", size: 17 << 30)), "longer than 16 GiB"),
      ("no tar", Gzip.stored([UInt8](repeating: 65, count: 2000)), "not a tar archive"),
      ("an archive of nothing", Gzip.stored(Tar.end), "empty"),
    ]
    for (name, bytes, reason) in cases {
      let file = try installation.folder.write("bad", bytes)
      let refusal = installation.refusal(file)
      #expect(refusal?.contains(reason) == true, "\(name): \(refusal ?? "taken")")
      #expect(installation.leftovers == [], "\(name)")
    }
    #expect(try installation.titles("one") == ["One"])
  }

  @Test func aDatabaseThatDoesMoreThanHoldRowsIsRefused() throws {
    let rows = [Installation.row("One")]
    let cases: [(String, String, String)] = [
      ("view", "CREATE VIEW v AS SELECT * FROM podcasts", "has a view"),
      (
        "trigger", "CREATE TRIGGER t AFTER INSERT ON podcasts BEGIN DELETE FROM podcasts; END",
        "has a trigger"
      ),
      ("virtual table", "CREATE VIRTUAL TABLE t USING fts5 (a)", "has a virtual table"),
    ]
    for (name, sql, reason) in cases {
      let refusal = installation.refusal(try installation.dumpFile(rows) { try $0.script(sql) })
      #expect(refusal?.contains(reason) == true, "\(name): \(refusal ?? "taken")")
    }
    let virtual = "CREATE VIRTUAL TABLE podcasts USING fts5 (url, title)"
    let refusal = installation.refusal(try installation.dumpFile([], schema: virtual))
    #expect(refusal?.contains("virtual table") == true, "\(refusal ?? "taken")")
    let view = "CREATE TABLE a (url, title); CREATE VIEW podcasts AS SELECT * FROM a"
    #expect(installation.refusal(try installation.dumpFile([], schema: view))?.contains("view") == true)
  }

  @Test func aDatabaseWithoutTheTableOrItsColumnsIsRefused() throws {
    let other = installation.refusal(try installation.dumpFile([], schema: "CREATE TABLE other (a)"))
    #expect(other?.contains("no table podcasts") == true, "\(other ?? "taken")")
    let untitled = installation.refusal(
      try installation.dumpFile([], schema: "CREATE TABLE podcasts (url TEXT)"))
    #expect(untitled?.contains("no column title") == true, "\(untitled ?? "taken")")
    let empty = installation.refusal(try installation.dumpFile([]))
    #expect(empty?.contains("no podcast") == true, "\(empty ?? "taken")")
  }

  @Test func aDamagedDatabaseIsRefused() throws {
    let file = try installation.dumpFile((0..<500).map { Installation.row("Show \($0)") })
    var bytes = try Directories.read(file)
    for place in stride(from: 5 * 4096, to: bytes.count, by: 4096) {
      for offset in 0..<200 where place + offset < bytes.count { bytes[place + offset] = 0xFF }
    }
    try installation.folder.write("podcastindex_feeds.db", bytes)
    let refusal = installation.refusal(file)
    #expect(refusal?.contains("damaged") == true, "\(refusal ?? "taken")")
  }

  @Test func aDiskWithoutRoomIsFoundBeforeAnythingIsUnpacked() throws {
    let file = try installation.folder.write("dump.tgz", archive())
    let source = try FileDescriptor(opening: file, O_RDONLY)
    #expect(throws: DirectoryImport.NoRoom.self) {
      try DirectoryImport(
        place: installation.place, program: Products.path("podcastfs"), minimumFree: .max / 2,
        now: Installation.now
      ).run(source, name: "dump")
    }
    #expect(installation.leftovers == [] && !installation.directory.isInstalled)
  }

  /// It does not say how long it will be: a small file may hold zeros without end.
  @Test func aCompressedDatabaseMayNotFillTheDiskEither() throws {
    let database = try Directories.read(try installation.dumpFile([Installation.row("One")]))
    let file = try installation.folder.write("dump.db.gz", Gzip.stored(database))
    #expect(throws: DirectoryImport.NoRoom.self) {
      try DirectoryImport(
        place: installation.place, program: Products.path("podcastfs"), minimumFree: .max / 2
      ).run(try FileDescriptor(opening: file, O_RDONLY), name: "dump.db.gz")
    }
    #expect(installation.leftovers == [])
  }

  @Test func twoImportsAtOnceAreRefused() throws {
    try installation.install([Installation.row("One")])
    let lock = try FileDescriptor(opening: installation.place.file + ".lock", O_RDWR)
    let isLocked = lock.tryLock(.exclusive)
    #expect(isLocked)
    let other = DirectoryImport(
      place: installation.place, program: Products.path("podcastfs"), minimumFree: 0)
    let file = installation.folder.path("podcastindex_feeds.db")
    let error = #expect(throws: DirectoryError.self) {
      try other.run(try FileDescriptor(opening: file, O_RDONLY), name: "dump")
    }
    #expect(error?.message == "another import is under way")
  }

  @Test func whoseDumpAnotherImportInstallsWaitsForThat() throws {
    try installation.install([Installation.row("One")])
    let lock = try FileDescriptor(opening: installation.place.file + ".lock", O_RDWR)
    let isLocked = lock.tryLock(.exclusive)
    #expect(isLocked)
    var stages: [DirectoryImport.Stage] = []
    try installation.install(installation.folder.path("podcastindex_feeds.db")) { stage in
      stages.append(stage)
      if stage == .waiting { lock.unlock() }
    }
    #expect(stages == [.waiting])
  }

  @Test func leftoversGoWhereNoImportIsUnderWay() throws {
    try installation.install([Installation.row("One")])
    for path in [".new", ".waiting"] { try Directories.replace(installation.place.file + path, with: [1]) }
    try installation.folder.write("cache/directory-dump.db", [1])
    let lock = try FileDescriptor(opening: installation.place.file + ".lock", O_RDWR)
    let isLocked = lock.tryLock(.exclusive)
    DirectoryImport.clean(installation.place)
    #expect(isLocked && installation.leftovers.count == 3)
    lock.unlock()
    DirectoryImport.clean(installation.place)
    #expect(try installation.leftovers == [] && installation.titles("one") == ["One"])
  }

  @Test func whatAnImportThatWasKilledHasLeftGoes() throws {
    for path in [installation.place.file + ".new", installation.place.file + ".waiting"] {
      try Directories.create(installation.place.folder)
      try Directories.replace(path, with: [1, 2, 3])
    }
    try installation.folder.write("cache/directory-dump.db", [1, 2, 3])
    try installation.install([Installation.row("One")])
    #expect(installation.leftovers == [])
  }

  @Test func theReaderOfADumpReachesNothingElse() throws {
    // A number that the process would only have where it opened the file again.
    let file = try installation.dumpFile([Installation.row("One")])
    let process = try RunningProcess(
      "sh", ["-c", "exec \"$0\" --read-dump <\"$1\"", Products.path("podcastfs"), file], environment: [:])
    #expect(process.wait() == .exit(0))
    // The last message: its nine bytes say that no row was refused.
    let end = "\t\0\0\0\u{1}" + String(repeating: "\0", count: 8)
    #expect(process.output.hasSuffix(end) && process.errors.isEmpty)
  }
}
