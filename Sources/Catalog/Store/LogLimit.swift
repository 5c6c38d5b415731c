internal import Glibc
internal import PosixKit
internal import SQLiteKit

/// Keeps the write-ahead log within bounds. SQLite brings it into the file by itself as it grows, but not past a
/// program that reads for long.
package struct LogLimit: Sendable {
  package static let usual: Int64 = 64 << 20
  /// Pages of the log from which on a commit brings them into the file (16 MiB).
  static let checkpointPages = 4096

  let path: String
  /// Bytes beyond which refreshes do not write.
  let bytes: Int64
  let queue: WorkQueue

  /// Seconds that a refresh waits for readers.
  private static let patience = 0.2
  /// Tries to empty the log, a second after each other.
  private static let tries = 60

  /// Before a refresh writes.
  /// - Throws: EBUSY where the log has no room for it: somebody reads the file as it was a while ago.
  func makeRoom(by writer: Database) throws {
    guard size > bytes else { return }
    if try writer.checkpoint(waiting: Self.patience) { return }
    if size > bytes {
      throw CatalogError(.EBUSY, "the catalogue is busy: another program holds a long read transaction")
    }
  }

  /// Empties the log soon, so that what was deleted at the user's word does not stay in it.
  func empty(try number: Int = 0) {
    queue.async(after: number == 0 ? 0 : 1) {
      var options = Database.Options()
      // Where the file was deleted meanwhile, it is not made anew.
      options.mustExist = true
      options.busyTimeout = Self.patience
      guard let isEmpty = try? Database(path: path, options: options).checkpoint(.truncate) else { return }
      if !isEmpty, number < Self.tries { empty(try: number + 1) }
    }
  }

  /// Bytes of the log.
  private var size: Int64 {
    var status = stat()
    return stat(path + "-wal", &status) == 0 ? Int64(status.st_size) : 0
  }
}
