internal import CSQLite
internal import Glibc

// Databases that strangers have made, and that are only read.
extension Database {
  /// Trusts nothing that the file's schema says, and runs no statement but those that read some tables
  /// (https://sqlite.org/security.html). For good, and before the first statement that names a table.
  /// - Parameter tables: the only ones whose rows are read.
  package func distrust(readingOnly tables: [String]) throws(DatabaseError) {
    try script(
      "PRAGMA trusted_schema = off; PRAGMA cell_size_check = on; PRAGMA mmap_size = 0; PRAGMA query_only = on"
    )
    podcastfs_sqlite_harden(handle)
    let names = strdup(tables.joined(separator: "\n"))
    // It lives as long as the process: the library calls back with it until the connection is closed.
    sqlite3_set_authorizer(
      handle,
      { tables, action, first, second, _, _ in
        let first = first.map { String(cString: $0) } ?? ""
        switch action {
        case SQLITE_SELECT: return SQLITE_OK
        case SQLITE_READ:
          let allowed = tables.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
          return allowed.split(separator: "\n").contains(Substring(first)) || first == "sqlite_master"
            || first == "sqlite_schema" ? SQLITE_OK : SQLITE_DENY
        case SQLITE_PRAGMA: return ["table_info", "quick_check"].contains(first) ? SQLITE_OK : SQLITE_DENY
        default: return SQLITE_DENY
        }
      }, names)
  }
}
