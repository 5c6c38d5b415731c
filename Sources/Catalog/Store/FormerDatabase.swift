internal import Glibc
internal import PosixKit
internal import SQLiteKit

/// A catalogue of another version of the program. There are no migrations: it is set aside, and a new one begins.
enum FormerDatabase {
  /// Renames the file, and those that SQLite keeps beside it, where its tables are of another version. Of several
  /// processes one does so.
  /// - Returns: the name that it has now; nil where another process was faster.
  static func setAside(_ path: String) throws -> String? {
    let gate = try FileDescriptor(opening: path + "-version", O_RDWR | O_CREAT, mode: 0o600)
    // A process that has the lock renames three files.
    while !gate.tryLock(.exclusive) { usleep(1000) }
    defer { gate.unlock() }
    guard let version = try version(path), version != Schema.version else { return nil }
    let name = free("\(path).version-\(version)")
    guard rename(path, name) == 0 else { throw PosixError.last("rename \(path)") }
    for ending in ["-wal", "-shm"] { rename(path + ending, name + ending) }
    return name
  }

  private static func version(_ path: String) throws -> Int64? {
    try Schema.version(of: try Database(path: path))
  }

  private static func free(_ name: String) -> String {
    var free = name
    var number = 2
    while access(free, F_OK) == 0 {
      free = "\(name)-\(number)"
      number += 1
    }
    return free
  }
}
