internal import CSQLite

/// The library that the catalogue is kept with.
package enum SQLiteLibrary {
  static let isConfigured: Void = podcastfs_sqlite_keep_no_statistics()

  package static var version: String { String(cString: sqlite3_libversion()) }

  package static var hasFullTextSearch: Bool { sqlite3_compileoption_used("ENABLE_FTS5") != 0 }
}
