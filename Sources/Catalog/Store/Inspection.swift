internal import Glibc
package import PodcastModel
internal import SQLiteKit

// Looks at the catalogue's file by programs that do not open the catalogue: they change nothing, and wait two seconds at
// the most.

extension Database {
  /// - Returns: nil where there is no file that can be read.
  fileprivate static func looking(at path: String) -> Database? {
    access(path, R_OK) == 0 ? try? Database(path: path, options: looking) : nil
  }

  fileprivate static var looking: Options {
    var options = Options()
    options.isReadOnly = true
    options.busyTimeout = 2
    options.placeVariable = CatalogStore.placeVariable
    return options
  }
}

package enum CatalogCondition: Hashable, Sendable {
  case missing
  case sound
  /// The next mount or command sets it aside and begins a new one.
  case otherVersion(Int)
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
    do throws(DatabaseError) {
      self = try Self.look(path, bytes: Int64(status.st_size))
    } catch {
      self =
        error.isMisplaced
        ? .misplaced(error.message)
        : error.file == nil ? .unreadable(error.message) : .obstructed(error.message)
    }
  }

  private static func look(_ path: String, bytes: Int64) throws(DatabaseError) -> CatalogCondition {
    // A mount that was killed while it made the file leaves it empty.
    if bytes == 0 { return .sound }
    let database = try Database(path: path, options: Database.looking)
    let version = try database.version() ?? Schema.version
    if version != Schema.version { return .otherVersion(version) }
    let question = bytes <= wholly ? "PRAGMA quick_check(1)" : "SELECT 'ok', count(name) FROM subscription"
    let verdict = try database.first(question) { $0.string(0) } ?? ""
    return verdict == "ok" ? .sound : .unreadable(verdict)
  }
}

/// What the catalogue has of some episodes; nothing where the file can't be read.
package enum KnownEntries {
  package static func all(forKeys keys: [MediaKey], inFile path: String) -> [EpisodeEntry] {
    guard !keys.isEmpty, let database = Database.looking(at: path) else { return [] }
    return (try? EpisodeRows.entries(forKeys: keys, in: database)) ?? []
  }

  package static func keys(ofEpisodes ids: [Int64], inFile path: String) -> [MediaKey] {
    guard !ids.isEmpty, let database = Database.looking(at: path) else { return [] }
    return ((try? EpisodeRows.episodes(ids, in: database)) ?? []).map(\.mediaKey)
  }

  /// What the folders of these podcasts are called: in `Subscriptions/` where they are followed, else in `Downloaded/`.
  package static func folderNames(ofPodcasts ids: Set<Int64>, inFile path: String) -> [Int64: String] {
    guard !ids.isEmpty else { return [:] }
    let rows = try? Database.looking(at: path)?.all(
      """
      SELECT p.id, coalesce(s.name, p.name) FROM podcast p LEFT JOIN subscription s ON s.podcast_id = p.id
      WHERE p.id IN (SELECT value FROM json_each(?))
      """, EpisodeRows.list(Array(ids))
    ) { ($0.int64(0), $0.string(1)) }
    return Dictionary(rows ?? [], uniquingKeysWith: { first, _ in first })
  }
}
