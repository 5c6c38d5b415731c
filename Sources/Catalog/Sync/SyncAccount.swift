internal import SQLiteKit

/// What is known of the server that this device synchronizes with, from one synchronization to the next. All times but
/// `last` and `notBefore` are by the server's clock, in seconds since 1970.
package struct SyncAccount: Hashable, Sendable {
  /// Address and user. Another account begins anew.
  package var name: String
  /// Which protocol it speaks, where it has been asked.
  package var kind: String?
  /// Whether this device has told the server its name.
  package var hasDevice = false
  /// Since when changes of subscriptions, and actions, are asked for next; nil before the first synchronization.
  package var subscriptionsSince: Int64?
  package var actionsSince: Int64?
  package var wholeRead: Int64?
  /// When the last synchronization that worked has ended.
  package var last: Int64?
  /// Why the last one failed, in one line for a person; nil where it did not.
  package var error: String?
  /// The server wishes not to be asked before.
  package var notBefore: Int64?
  /// The digest of the settings that the server has refused: it is not asked again with these.
  package var refused: String?

  package init(name: String) { self.name = name }
}

extension SyncAccount {
  private enum Column: Int, ColumnList {
    case id, name, kind, hasDevice, subscriptionsSince, actionsSince, wholeRead, last, error, notBefore,
      refused
  }

  private static let saving = Database.saving(into: "sync_account", Column.allCases.map(\.name))

  /// nil where this device has never synchronized.
  static func load(in database: Database) throws -> SyncAccount? {
    try database.first("SELECT \(Column.list(of: "a")) FROM sync_account a") { row in
      var account = SyncAccount(name: row.string(Column.name))
      account.kind = row.stringIfPresent(Column.kind)
      account.hasDevice = row.bool(Column.hasDevice)
      account.subscriptionsSince = row.time(Column.subscriptionsSince)
      account.actionsSince = row.time(Column.actionsSince)
      account.wholeRead = row.time(Column.wholeRead)
      account.last = row.time(Column.last)
      account.error = row.stringIfPresent(Column.error)
      account.notBefore = row.time(Column.notBefore)
      account.refused = row.stringIfPresent(Column.refused)
      return account
    }
  }

  func save(in database: Database) throws {
    try database.run(
      Self.saving,
      values: [
        1, name, kind, hasDevice, subscriptionsSince, actionsSince, wholeRead, last, error, notBefore,
        refused,
      ])
  }
}

extension Catalog {
  /// The account that was synchronized last; nil where there was none.
  package func syncAccount() throws(CatalogError) -> SyncAccount? {
    try store.read { try SyncAccount.load(in: $0) }
  }

  /// Changes what is known of an account. Another one than the last begins anew: nothing counts as exchanged.
  package func changeSyncAccount(
    _ name: String, _ body: (inout SyncAccount) -> Void
  ) throws(CatalogError) {
    try store.write { database in
      var account = try SyncAccount.load(in: database) ?? SyncAccount(name: name)
      if account.name != name {
        for table in ["sync_feed", "sync_episode"] { try database.run("DELETE FROM \(table)") }
        account = SyncAccount(name: name)
      }
      body(&account)
      try account.save(in: database)
    }
  }
}
