import Glibc
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// The catalogue is a file that anybody may have written to: nothing in it ends the mount.
@Suite struct HostileStoreTests {
  /// Every number of every row set to one at the edge, one column after the other.
  @Test(arguments: [Int64.max, .min])
  func numbersAtTheEdgeEndNothing(_ number: Int64) throws {
    let fixture = try MountFixture(size: 50_000)
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    #expect(rename(fixture.podcastPath, fixture.root + "/Subscriptions/Harbour Lights") == 0)
    _ = try Directories.read(
      "\(fixture.root)/Subscriptions/Harbour Lights/\(MountFixture.names[0])", limit: 1 << 20)
    mkdir(fixture.root + "/Search/harbour", 0o755)
    try Self.unmount(fixture)
    let path = fixture.environment.home.path("data") + "/podcastfs/catalog.sqlite"
    let columns = try Self.numbers(path)
    #expect(columns.count > 40)
    for part in stride(from: 0, to: columns.count, by: 20) {
      // Some columns at a time: a mount for each would take long.
      let copy = try Directories.read(path, limit: 64 << 20)
      do {
        let database = try Database(path: path)
        for (table, column) in columns[part..<min(columns.count, part + 20)] {
          try? database.run("UPDATE OR IGNORE \(table) SET \(column) = ?", number)
        }
      }
      try fixture.mount()
      Self.look(at: fixture.root)
      #expect(fixture.mountProcess != nil, "\(fixture.log.suffix(4000))")
      var statistics = statvfs()
      #expect(statvfs(fixture.root, &statistics) == 0, "\(columns[part...].prefix(20))")
      try Self.unmount(fixture)
      for ending in ["-wal", "-shm"] { unlink(path + ending) }
      try fixture.environment.home.write("data/podcastfs/catalog.sqlite", copy)
    }
  }

  /// The process closes its file a moment after the mount has gone.
  private static func unmount(_ fixture: MountFixture) throws {
    let process = fixture.mountProcess
    try fixture.unmount()
    #expect(eventually { process.map { kill($0, 0) != 0 } ?? true })
  }

  /// Looks at all there is, whatever that answers.
  private static func look(at path: String, depth: Int = 0) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    for name in (try? ExtendedAttributes.names(of: path)) ?? [] {
      _ = try? ExtendedAttributes.get(name, of: path)
    }
    guard status.st_mode & S_IFMT == S_IFDIR, depth < 4 else { return }
    for name in (try? Directories.names(in: path)) ?? [] { look(at: path + "/" + name, depth: depth + 1) }
  }

  private static func numbers(_ path: String) throws -> [(String, String)] {
    let database = try Database(path: path)
    var found: [(String, String)] = []
    for table in [
      "podcast", "episode", "search", "result", "subscription", "folder", "counter", "hidden_in_search",
    ] {
      found += try database.all("SELECT name FROM pragma_table_info(?) WHERE type = 'INTEGER'", table) {
        row in
        (table, row.string(0))
      }
    }
    return found
  }
}
