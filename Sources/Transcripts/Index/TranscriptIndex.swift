internal import Glibc
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A transcript that is here: the user's own, or a copy of the feed's.
package struct TranscriptFile: Hashable, Sendable {
  /// The episode's enclosure. Numbers of episodes do not outlive a lost catalogue.
  package let key: MediaKey
  /// Its name in the folder of its kind.
  package let name: String
  package let isOwn: Bool

  package init(key: MediaKey, name: String, isOwn: Bool) {
    self.key = key
    self.name = name
    self.isOwn = isOwn
  }
}

/// The full-text index of what was said. It is derived: the transcripts themselves are files, and a lost or damaged index is
/// made again from them.
///
/// FTS5 keeps no text and no places of words (`content = ''`, `detail = none`): a fifth of the text's size. A row is a half
/// minute; those of a transcript follow one another, and the last transcript has the highest numbers. Numbers without gaps
/// between them keep the index small. A transcript that is taken out leaves its words behind under numbers that nothing has
/// any more; where they become many, all is indexed anew.
package final class TranscriptIndex: Sendable {
  /// Used under the lock only: that makes it Sendable.
  struct Connection: @unchecked Sendable {
    let database: Database
  }

  let connection: Monitor<Connection>
  private let folders: Folders

  package struct Folders: Sendable {
    /// Of the user's own transcripts.
    package var own: String
    /// Of the copies of feeds' ones.
    package var copies: String

    package init(own: String, copies: String) {
      self.own = own
      self.copies = copies
    }
  }

  /// - Parameter data: the folder of the catalogue.
  package static func path(data: String) -> String { data + "/transcripts.sqlite" }

  private static let version = 2
  private static let tables = """
    CREATE TABLE transcript (
      first INTEGER PRIMARY KEY,                        -- the number of its first half minute
      media_key BLOB NOT NULL UNIQUE,
      is_own INTEGER NOT NULL, name TEXT NOT NULL,
      size INTEGER NOT NULL, changed INTEGER NOT NULL,  -- of the file; in nanoseconds since 1970
      format INTEGER NOT NULL,
      segments INTEGER NOT NULL,
      places BLOB NOT NULL                              -- `SegmentPlaces`; empty where the file is read as a whole
    );
    -- The next half minute's number, and how many are of transcripts that were taken out.
    CREATE TABLE state (next INTEGER NOT NULL, garbage INTEGER NOT NULL);
    INSERT INTO state VALUES (1, 0);
    CREATE VIRTUAL TABLE segment_text USING fts5 (
      text, content = '', detail = none, columnsize = 0, tokenize = 'unicode61 remove_diacritics 2');
    """

  /// Opens the index, making it where it is missing, damaged or of another version.
  package init(path: String, folders: Folders) throws {
    self.folders = folders
    do {
      connection = Monitor(Connection(database: try Self.open(path)))
    } catch let error as DatabaseError where error.isDamaged || error.isOfOtherVersion {
      for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
      connection = Monitor(Connection(database: try Self.open(path)))
    }
  }

  /// To close a file takes the process's locks from it (fcntl(2)), those of other connections too: who makes the file closes
  /// it before anybody connects. The value means nothing: with an empty one the thread sanitizer reports a race.
  private static let making = Monitor(false)

  private static func open(_ path: String) throws -> Database {
    try making.withLock { _ in try connect(path) }
  }

  private static func connect(_ path: String) throws -> Database {
    do { _ = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600) } catch {
      if error.errno != .EEXIST { throw error }
    }
    var options = Database.Options()
    options.synchronous = .normal
    options.placeVariable = "XDG_DATA_HOME"
    let database = try Database(path: path, options: options)
    try database.makeTables(version: version, tables)
    return database
  }

  func path(of file: TranscriptFile) -> String {
    (file.isOwn ? folders.own : folders.copies) + "/" + file.name
  }

  /// Puts a transcript in, in the place of the episode's former one. The user's own one stays while its file is there.
  /// - Returns: false where it is there already, or another one stays.
  @discardableResult
  package func add(_ file: TranscriptFile) throws -> Bool {
    let path = path(of: file)
    guard let state = FileState(of: path) else { return false }
    let isKnown = try connection.withLock { connection in
      try Self.row(of: file.key, in: connection.database).map { row in
        if row.file == file { return row.state == state }
        return row.file.isOwn && !file.isOwn && FileState(of: self.path(of: row.file)) != nil
      }
    }
    if isKnown == true { return false }
    let bytes = try Directories.readRegular(path)
    let format = TranscriptFormat(of: bytes)
    let segments = Segments(format.cues(bytes))
    let places = format.hasPlaces ? segments.starts.map { segments.cues[$0].place } : []
    // Costs more than writing it.
    let texts = (0..<segments.count).map { segments.indexed($0) }
    try connection.withLock { connection in
      let database = connection.database
      try database.transaction {
        try Self.remove(file.key, in: database)
        let first = try database.first("SELECT next FROM state") { $0.int64(0) } ?? 1
        // One without words has a number, too.
        try database.run("UPDATE state SET next = next + ?", max(texts.count, 1))
        try database.run(
          """
          INSERT INTO transcript (first, media_key, is_own, name, size, changed, format, segments, places)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
          """, first, file.key.bytes, file.isOwn, file.name, state.size, state.changed, format.rawValue,
          segments.count, SegmentPlaces.bytes(places))
        try database.run(
          "INSERT INTO segment_text (rowid, text) VALUES (?, ?)", rows: texts.count
        ) { place, row in
          row.add(first + Int64(place))
          row.add(texts[place])
        }
      }
    }
    return true
  }

  /// Takes an episode's transcript out.
  /// - Returns: false where it has none.
  @discardableResult
  package func remove(_ key: MediaKey) throws -> Bool {
    try connection.withLock { connection in
      try connection.database.transaction { try Self.remove(key, in: connection.database) }
    }
  }

  /// Takes transcripts out so that none of their words stays in the file.
  package func forget(_ keys: [MediaKey]) throws {
    var isFound = false
    for key in keys { isFound = try remove(key) || isFound }
    if isFound { try remake() }
  }

  /// Makes the index agree with what is there: adds what is missing or has changed, and takes out what is gone.
  /// - Returns: whether anything was another.
  @discardableResult
  package func agree(with files: [TranscriptFile]) throws -> Bool {
    let wanted = Dictionary(files.map { ($0.key, $0) }, uniquingKeysWith: { $0.isOwn ? $0 : $1 })
    let known = try connection.withLock { try Self.rows(in: $0.database) }
    var isChanged = false
    for row in known where wanted[row.file.key] == nil || FileState(of: path(of: row.file)) == nil {
      isChanged = try remove(row.file.key) || isChanged
    }
    // A file that goes meanwhile is left out.
    var added = 0
    for file in wanted.values where (try? add(file)) ?? false { added += 1 }
    if added >= Self.many {
      try connection.withLock { connection in
        try connection.database.script("INSERT INTO segment_text (segment_text) VALUES ('optimize'); VACUUM")
      }
    }
    isChanged = isChanged || added > 0
    try remakeIfDue()
    return isChanged
  }

  /// So many new transcripts at once leave pieces of the index that had better be one.
  private static let many = 500

  /// Indexes all anew where a third of the index is of transcripts that are gone.
  private func remakeIfDue() throws {
    let isDue = try connection.withLock { connection in
      try connection.database.first(
        "SELECT garbage > 4096 AND garbage * 2 > (SELECT total(segments) FROM transcript) FROM state"
      ) { $0.int(0) != 0 }
    }
    if isDue == true { try remake() }
  }

  private func remake() throws {
    let files = try connection.withLock { connection in
      let database = connection.database
      return try database.transaction {
        let files = try Self.rows(in: database).map(\.file)
        try database.run("DELETE FROM transcript")
        try database.run("UPDATE state SET next = 1, garbage = 0")
        try database.run("INSERT INTO segment_text (segment_text) VALUES ('delete-all')")
        return files
      }
    }
    for file in files { _ = try? add(file) }
    // What was deleted leaves the file, too.
    try connection.withLock { connection in
      try connection.database.script("VACUUM")
      try connection.database.checkpoint()
    }
  }
}

extension TranscriptIndex {
  /// What a row says of a transcript.
  struct Known {
    /// The number of its first half minute.
    let first: Int64
    let segments: Int64
    let file: TranscriptFile
    let state: FileState
    let format: TranscriptFormat
    let places: [UInt8]
  }

  /// By which a file that has changed is told from the one that was indexed.
  struct FileState: Hashable {
    var size: Int64
    /// In nanoseconds since 1970.
    var changed: Int64

    init(size: Int64, changed: Int64) {
      self.size = size
      self.changed = changed
    }

    init?(of path: String) {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
      size = Int64(status.st_size)
      changed = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    }
  }

  private static let columns = "first, segments, media_key, is_own, name, size, changed, format, places"

  static func row(of key: MediaKey, in database: Database) throws -> Known? {
    try database.first(
      "SELECT \(columns) FROM transcript WHERE media_key = ?", key.bytes
    ) { read($0) } ?? nil
  }

  /// The transcript that a half minute is of; nil where it was taken out.
  static func row(ofSegment number: Int64, in database: Database) throws -> Known? {
    let known =
      try database.first(
        "SELECT \(columns) FROM transcript WHERE first <= ? ORDER BY first DESC LIMIT 1",
        number
      ) { read($0) } ?? nil
    return known.flatMap { number < $0.first + $0.segments ? $0 : nil }
  }

  static func rows(in database: Database) throws -> [Known] {
    try database.all("SELECT \(columns) FROM transcript ORDER BY first") { read($0) }
      .compactMap(\.self)
  }

  private static func read(_ row: borrowing Row) -> Known? {
    guard let key = MediaKey(bytes: row.blob(2)),
      let format = TranscriptFormat(rawValue: row.int64(7))
    else { return nil }
    let file = TranscriptFile(key: key, name: row.string(4), isOwn: row.bool(3))
    return Known(
      first: row.int64(0), segments: row.int64(1), file: file,
      state: FileState(size: row.int64(5), changed: row.int64(6)), format: format,
      places: row.blob(8))
  }

  /// Within a transaction.
  @discardableResult
  fileprivate static func remove(_ key: MediaKey, in database: Database) throws -> Bool {
    try database.run(
      """
      UPDATE state SET garbage = garbage
        + coalesce((SELECT segments FROM transcript WHERE media_key = ?), 0)
      """, key.bytes)
    try database.run("DELETE FROM transcript WHERE media_key = ?", key.bytes)
    return database.changedRows > 0
  }
}
