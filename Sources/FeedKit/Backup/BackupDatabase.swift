internal import PodcastModel
internal import SQLiteKit

/// Reads the databases of other programs: AntennaPod's export and gPodder's `Database`. A stranger may have made them, so
/// that this happens in the confined process only.
enum BackupDatabase {
  /// How a database's file begins (https://sqlite.org/fileformat.html).
  private static let magic = Array("SQLite format 3\0".utf8)
  private static let tables = [
    "Feeds", "FeedItems", "FeedMedia", "Queue", "Favorites", "podcast", "episode",
  ]

  static func isOne(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: magic) }

  static func read(_ bytes: UnsafeRawBufferPointer) throws(FeedError) -> OPMLDocument {
    do {
      let database = try Database(copyOf: bytes)
      try database.distrust(readingOnly: tables)
      let found = Set(
        try database.all("SELECT name FROM sqlite_master WHERE type = 'table'") { $0.string(0).lowercased() })
      if found.isSuperset(of: ["feeds", "feeditems", "feedmedia"]) {
        return try AntennaPodBackup(BackupTables(database)).document
      }
      if found.isSuperset(of: ["podcast", "episode"]) {
        return try GPodderBackup(BackupTables(database)).document
      }
    } catch {
      throw .notAList(ForeignDocument(backup: "\(error)"))
    }
    throw .notAList(ForeignDocument(backup: "it has no tables of AntennaPod or gPodder"))
  }
}

/// Tables of a database whose columns differ from version to version.
struct BackupTables {
  private let database: Database

  init(_ database: Database) { self.database = database }

  /// What `body` makes of each row of a table that is there.
  /// - Parameter columns: in the order in which they are read. Those that the table lacks are NULL.
  func rows<Made>(_ table: String, _ columns: [String], _ body: (borrowing Row) -> Made) throws -> [Made] {
    let known = Set(try database.all("PRAGMA table_info(\(table))") { $0.string(1).lowercased() })
    if known.isEmpty { return [] }
    let wanted = columns.map { known.contains($0.lowercased()) ? "\"\($0)\"" : "NULL" }
    return try database.all("SELECT \(wanted.joined(separator: ", ")) FROM \(table)", as: body)
  }
}

extension WebAddress {
  /// The address of a feed in a backup, which keeps its user's name and password apart.
  init?(feed address: String?, user: String?, password: String?) {
    guard let address, let feed = SubscriptionAddress.normalized(address) else { return nil }
    guard let user, !user.isEmpty, let parts = feed.parts, parts.userinfo == nil else {
      self = feed
      return
    }
    let secret = PercentEncoding.encode(user) + ":" + PercentEncoding.encode(password ?? "")
    let start = feed.forRequest[..<parts.authority.startIndex]
    self.init("\(start)\(secret)@\(feed.forRequest[parts.authority.startIndex...])")
  }
}
