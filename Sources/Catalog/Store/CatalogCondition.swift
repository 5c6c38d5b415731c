internal import Glibc
internal import SQLiteKit

/// What the catalogue's file looks like to who only looks.
package enum CatalogCondition: Hashable, Sendable {
  case missing
  case sound
  /// The next mount or command sets it aside and begins a new one.
  case otherVersion(Int64)
  case unreadable(String)
  /// One of the files beside it can't be used: why, with its name.
  case obstructed(String)
  /// Its file system cannot do what SQLite needs: why, and what to set.
  case misplaced(String)

  /// Bytes up to which every page is looked at: that takes a second or two. Of a larger one only the lists are read.
  private static let wholly: Int64 = 64 << 20

  package init(ofFile path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      self = .missing
      return
    }
    // A fifo would be waited for.
    guard status.st_mode & S_IFMT == S_IFREG else {
      self = .unreadable("it is no regular file")
      return
    }
    // As a mount that has been killed while it made it leaves it.
    if status.st_size == 0 {
      self = .sound
      return
    }
    var options = Database.Options()
    options.isReadOnly = true
    options.busyTimeout = 2
    options.placeVariable = CatalogStore.placeVariable
    do throws(DatabaseError) {
      let database = try Database(path: path, options: options)
      let version = try Schema.version(of: database) ?? Schema.version
      guard version == Schema.version else {
        self = .otherVersion(version)
        return
      }
      let isSmall = Int64(status.st_size) <= Self.wholly
      let question = isSmall ? "PRAGMA quick_check(1)" : "SELECT 'ok', count(name) FROM subscription"
      let verdict = try database.first(question) { $0.string(0) } ?? ""
      self = verdict == "ok" ? .sound : .unreadable(verdict)
    } catch {
      if error.isMisplaced {
        self = .misplaced(error.message)
        return
      }
      self = error.file == nil ? .unreadable(error.message) : .obstructed(error.message)
    }
  }
}
