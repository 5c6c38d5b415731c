internal import Glibc
internal import PodcastModel
package import PosixKit
internal import SQLiteKit

/// The directory of podcasts that is installed: one file that nobody changes. A newer one takes its place, which the next
/// query sees.
package final class PodcastDirectory: Sendable {
  /// Used under the lock only: that makes it Sendable.
  private struct Opened: @unchecked Sendable {
    var database: Database?
    /// The file that is open.
    var identity: (device: dev_t, file: ino_t, time: Int)?
  }

  package let place: DirectoryPlace
  private let opened = Monitor(Opened())

  /// Costs nothing: the file is opened by the first query.
  package init(place: DirectoryPlace) { self.place = place }

  /// Whether one is installed. It may be of another version, which only a query finds out.
  package var isInstalled: Bool { Self.identity(of: place.file) != nil }

  /// What it was made of.
  /// - Throws: as all queries do, `DirectoryError`: ENOENT where none is installed, EIO where it cannot be read.
  package func facts() throws(DirectoryError) -> DirectoryFacts {
    var facts = try query { database in
      try database.first("SELECT podcasts, refused, made, newest, source, identity FROM fact") { row in
        var facts = DirectoryFacts()
        (facts.podcasts, facts.refused) = (row.int(0), row.int(1))
        (facts.made, facts.newest) = (row.int64(2), row.int64(3))
        (facts.source, facts.identity) = (row.string(4), row.stringIfPresent(5))
        return facts
      } ?? DirectoryFacts()
    }
    var status = stat()
    if stat(place.file, &status) == 0 { facts.bytes = Int64(status.st_size) }
    return facts
  }

  /// Removes the file. A program that has it open can still read it.
  package func remove() throws(PosixError) { try retrying("remove", place.file) { unlink(place.file) } }

  /// The podcast with this number at Apple; nil where the directory has none.
  package func podcast(apple number: Int64) throws(DirectoryError) -> DirectoryEntry? {
    try query { database in
      try database.first(
        "SELECT \(Self.columns) FROM podcast p WHERE p.apple = ? ORDER BY p.id LIMIT 1", number,
        as: { DirectoryEntry($0) })
    }
  }

  /// The podcast with this number at Podcast Index; nil where the directory has none.
  package func podcast(number: Int64) throws(DirectoryError) -> DirectoryEntry? {
    try query { database in
      try database.first(
        "SELECT \(Self.columns) FROM podcast p WHERE p.number = ? ORDER BY p.id LIMIT 1", number,
        as: { DirectoryEntry($0) })
    }
  }

  /// The best of a category, at most 200.
  /// - Parameter language: two or three letters; nil for all languages.
  package func podcasts(inCategory name: String, language: String? = nil) throws(DirectoryError)
    -> [DirectoryEntry]
  {
    guard let category = Categories.number(of: name) else { return [] }
    return try query { database in
      try database.all(
        """
        SELECT \(Self.columns) FROM category c JOIN podcast p ON p.id = c.podcast
        WHERE c.category = ? AND c.language = ? ORDER BY c.podcast
        """, Int64(category), language ?? "", as: { DirectoryEntry($0) })
    }
  }

  /// The languages of a category's podcasts, by their letters.
  package func languages(ofCategory name: String) throws(DirectoryError) -> [String] {
    guard let category = Categories.number(of: name) else { return [] }
    return try query { database in
      try database.all(
        "SELECT DISTINCT language FROM category WHERE category = ? AND language <> '' ORDER BY language",
        Int64(category)
      ) { $0.string(0) }
    }
  }

  static let columns = DirectoryEntry.columns

  func query<R: Sendable>(_ body: (Database) throws -> R) throws(DirectoryError) -> R {
    let result: Result<R, DirectoryError> = opened.withLock { opened in
      do {
        return .success(try body(try Self.database(&opened, of: place.file)))
      } catch let error as DirectoryError {
        return .failure(error)
      } catch {
        return .failure(DirectoryError(.EIO, "cannot read the directory \(place.file): \(error)"))
      }
    }
    return try result.get()
  }

  /// The connection to the file that is there now.
  private static func database(_ opened: inout Opened, of path: String) throws -> Database {
    guard let identity = identity(of: path) else {
      opened = Opened()
      throw DirectoryError.missing
    }
    if let database = opened.database, let known = opened.identity, known == identity { return database }
    var options = Database.Options()
    options.isReadOnly = true
    options.isImmutable = true
    let database = try Database(path: path, options: options)
    let version = try? database.first("SELECT version FROM fact") { $0.int(0) }
    guard version == DirectorySchema.version else {
      throw DirectoryError(
        .EIO, "the directory \(path) is damaged or of another version of podcastfs: podcastfs directory fetch"
      )
    }
    opened = Opened(database: database, identity: identity)
    return database
  }

  /// Of the file, if it is the user's own or root's: SQLite is not made for files that a stranger has written.
  private static func identity(of path: String) -> (device: dev_t, file: ino_t, time: Int)? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      [0, geteuid()].contains(status.st_uid)
    else { return nil }
    return (status.st_dev, status.st_ino, status.st_mtim.tv_sec)
  }
}
