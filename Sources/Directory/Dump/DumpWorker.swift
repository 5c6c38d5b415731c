internal import FeedKit
internal import Glibc
internal import PosixKit
internal import SQLiteKit

/// The process that reads a dump: `podcastfs` in a mode that no user calls. Its standard input is the database, its
/// standard output a pipe for what is in it (`DumpRecord`). It can reach nothing else (see `Sandbox`).
package enum DumpWorker {
  /// The argument that calls it.
  package static let argument = "--read-dump"
  /// Seconds on a processor: some ten times as long as the real dump takes.
  private static let processorSeconds = 1200
  /// Bytes of memory.
  private static let memory = 256 << 20
  /// Records that are written at once.
  private static let batch = 500

  /// The lowest file descriptor that is closed: above those of the database and the pipe.
  private static let firstClosed: Int32 = 16

  /// - Returns: the exit status; 0 also where the output says that the dump is refused.
  package static func run() -> Int32 {
    ResourceLimits.confine(memory: memory, processorSeconds: processorSeconds)
    var options = Database.Options()
    options.isReadOnly = true
    options.isImmutable = true
    // Nothing of the program that started this one is open here.
    options.whenOpen = { Sandbox.enter(closingFrom: firstClosed) }
    var found: [DumpRecord] = []
    func write(_ message: DumpMessage) -> Bool { (try? PipedValue.write(message, to: 1)) != nil }
    func writeFound() -> Bool {
      defer { found.removeAll(keepingCapacity: true) }
      return write(.records(found))
    }
    let isTaken: Bool
    do {
      let database = try Database(path: "/proc/self/fd/0", options: options)
      try database.distrust(readingOnly: [DumpReader.table])
      let reader = try DumpReader(database)
      var refused = 0
      try reader.read { record in
        guard let record else {
          refused += 1
          return true
        }
        found.append(record)
        return found.count < batch || writeFound()
      }
      isTaken = writeFound() && write(.end(refused: refused))
    } catch let error as DirectoryError {
      isTaken = write(.refused("\(error)"))
    } catch let error as DatabaseError {
      isTaken = write(.refused("\(DirectoryError.refused(explain(error)))"))
    } catch {
      return 1
    }
    return isTaken ? 0 : 1
  }

  private static func explain(_ error: DatabaseError) -> String {
    error.isDamaged
      ? "its database is damaged (\(error.message))" : "its database cannot be read (\(error.message))"
  }
}
