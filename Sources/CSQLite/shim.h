#ifndef PODCASTFS_CSQLITE_SHIM_H
#define PODCASTFS_CSQLITE_SHIM_H

#include <sqlite3.h>

/// SQLITE_TRANSIENT is a cast of -1 to a function pointer: SQLite copies the value at once.
static inline int podcastfs_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int bytes) {
  return sqlite3_bind_text(statement, index, text, bytes, SQLITE_TRANSIENT);
}
static inline int podcastfs_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *blob, int bytes) {
  return sqlite3_bind_blob(statement, index, blob, bytes, SQLITE_TRANSIENT);
}

/// Keeps no count of the memory that is in use, for which the library takes a lock whenever it allocates. Before its first
/// use; later it does nothing.
static inline void podcastfs_sqlite_keep_no_statistics(void) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Of a database that a stranger has made no view and no trigger runs, and no row is longer than 16 MiB.
static inline void podcastfs_sqlite_harden(sqlite3 *database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 16 << 20);
  sqlite3_limit(database, SQLITE_LIMIT_COLUMN, 200);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
}

#endif
