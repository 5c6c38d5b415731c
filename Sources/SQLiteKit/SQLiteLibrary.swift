internal import CSQLite

/// The library that the catalogue is kept with.
enum SQLiteLibrary {
  /// Once, before the first connection.
  static let isConfigured: Void = podcastfs_sqlite_keep_no_statistics()
}
