internal import CSQLite

/// The library that the catalogue is kept with.
package enum SQLiteLibrary {
  /// Once, before the first connection.
  static let isConfigured: Void = podcastfs_sqlite_keep_no_statistics()

  /// "3.40.1".
  package static var version: String { String(cString: sqlite3_libversion()) }

  package static var hasFullTextSearch: Bool { sqlite3_compileoption_used("ENABLE_FTS5") != 0 }
}
