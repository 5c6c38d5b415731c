internal import FeedKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

package struct FollowedFeed: Hashable, Sendable {
  package var podcast: Int64
  package var subscription: Int64
  package var url: WebAddress
  /// Of all addresses that mean this feed: its own, those that it had, and those that it leads to.
  package var keys: [String]
  /// Whether its address holds neither credentials nor a token.
  package var isPublic: Bool

  package init(podcast: Int64, subscription: Int64, url: WebAddress, keys: [String], isPublic: Bool) {
    (self.podcast, self.subscription, self.url, self.keys) = (podcast, subscription, url, keys)
    self.isPublic = isPublic
  }
}

/// A subscription that this device and the server both had at the last synchronization, in one of the spellings that the
/// server has of it.
package struct ServerFeed: Hashable, Sendable {
  /// Of the address that it was uploaded or came with (`FeedKey`).
  package var key: String
  /// As the server writes it.
  package var url: WebAddress
  package var state: State

  package enum State: Int64, Sendable {
    case uploaded
    /// The server has named it itself.
    case listed
    /// The server does not take it.
    case refused
  }

  package init(url: WebAddress, key: String? = nil, state: State = .uploaded) {
    self.url = url
    self.key = key ?? FeedKey.text(url)
    self.state = state
  }
}

/// What the server and this device last agreed on of one episode.
package struct ExchangedState: Hashable, Sendable {
  /// In milliseconds.
  package var position: Int64
  package var isPlayed: Bool
  /// The time of the action, by the server's clock.
  package var time: Int64

  package init(position: Int64, isPlayed: Bool, time: Int64) {
    (self.position, self.isPlayed, self.time) = (position, isPlayed, time)
  }
}

/// An episode's state here, and the last one that was exchanged.
package struct ListenedEpisode: Hashable, Sendable {
  package var id: Int64
  package var podcast: Int64
  package var guid: String?
  package var address: WebAddress
  /// In seconds.
  package var duration: Int?
  package var listening: ListeningState
  package var exchanged: ExchangedState?

  package init(id: Int64, podcast: Int64, address: WebAddress, listening: ListeningState) {
    (self.id, self.podcast, self.address, self.listening) = (id, podcast, address, listening)
  }
}

/// The catalogue as synchronization reads and changes it, within one transaction.
package struct SyncRows {
  let database: Database
  /// What mounts are to learn.
  var changes: [CatalogChange] = []

  init(_ database: Database) { self.database = database }
}

extension Catalog {
  package func readSync<R: Sendable>(_ body: (SyncRows) throws -> R) throws(CatalogError) -> R {
    try store.read { try body(SyncRows($0)) }
  }

  package func changeSync<R: Sendable>(_ body: (inout SyncRows) throws -> R) throws(CatalogError) -> R {
    try store.change { database, changes in
      var rows = SyncRows(database)
      let result = try body(&rows)
      changes += rows.changes
      return result
    }
  }
}

extension SyncRows {
  package func followedFeeds() throws -> [FollowedFeed] {
    try ListedRow.subscriptions(in: database).map { listed in
      let podcast = listed.podcast
      let further = try PodcastRecord.load(podcast.id, in: database).map { [$0.cameFrom, $0.movedTo] } ?? []
      return FollowedFeed(
        podcast: podcast.id, subscription: listed.id, url: podcast.feedURL,
        keys: try PodcastRecord.keys(of: podcast.id, in: database)
          + further.compactMap { $0.map(FeedKey.text) },
        isPublic: podcast.feedURL.shown(isListed: podcast.isListed) == podcast.feedURL.forRequest)
    }
  }

  package func serverFeeds() throws -> [ServerFeed] {
    try database.all("SELECT key, url, state FROM sync_feed ORDER BY key, url") { row in
      ServerFeed(
        url: WebAddress(row.string(1)), key: row.string(0),
        state: ServerFeed.State(rawValue: row.int64(2)) ?? .uploaded)
    }
  }

  package func save(_ feed: ServerFeed) throws {
    try database.run(
      "INSERT OR REPLACE INTO sync_feed (key, url, state) VALUES (?, ?, ?)", feed.key, feed.url.forRequest,
      feed.state.rawValue)
  }

  package func remove(_ feed: ServerFeed) throws {
    try database.run("DELETE FROM sync_feed WHERE url = ?", feed.url.forRequest)
  }

  /// Follows the feed at an address that another device follows.
  /// - Parameter mayBePrivate: the server that told it is on a private network itself.
  /// - Returns: false where the address is none that can be followed.
  package mutating func follow(_ url: WebAddress, mayBePrivate: Bool) throws -> Bool {
    guard let address = SubscriptionAddress.normalized(url.forRequest) else { return false }
    let podcast = try PodcastRecord.recordNamed(address, title: nil, mayBePrivate: mayBePrivate, in: database)
    if try SubscriptionRows.isSubscribed(podcast, in: database) { return true }
    let listed = try SubscriptionRows.subscribe(podcast, as: nil, or: nil, in: database)
    changes.append(.subscription(listed.id, podcast: podcast))
    return true
  }

  package mutating func unfollow(_ feed: FollowedFeed) throws {
    try SubscriptionRows.end(feed.subscription, of: feed.podcast, in: database, &changes)
  }

  package mutating func noteSynchronized(added: Int, removed: Int, episodes: Int) {
    changes.append(.synchronized(added: added, removed: removed, episodes: episodes))
  }
}

extension SyncRows {
  private static let listened = """
    SELECT \(Episode.columns), x.position, x.played, x.time
    FROM episode e LEFT JOIN sync_episode x ON x.episode_id = e.id
    """

  private static func read(_ row: borrowing Row) -> ListenedEpisode {
    let episode = Episode(row)
    var listened = ListenedEpisode(
      id: episode.id, podcast: episode.podcastID, address: episode.enclosureURL, listening: episode.listening)
    listened.guid = episode.guid
    listened.duration = episode.duration
    let first = Episode.columnCount
    if let position = row.int64IfPresent(first) {
      listened.exchanged = ExchangedState(
        position: position, isPlayed: row.bool(first + 1), time: row.int64(first + 2))
    }
    return listened
  }

  package func episodes(_ ids: [Int64]) throws -> [ListenedEpisode] {
    try database.all(
      "\(Self.listened) WHERE e.id IN (SELECT value FROM json_each(?))", EpisodeRows.list(ids), as: Self.read)
  }

  /// Episodes of followed podcasts whose state the server does not have.
  package func pending() throws -> [ListenedEpisode] {
    try database.all(
      """
      \(Self.listened) JOIN podcast p ON p.id = e.podcast_id
      WHERE e.listening_changed IS NOT NULL AND p.is_followed = 1 AND CASE WHEN x.episode_id IS NULL
        THEN e.position <> 0 OR e.played <> 0 ELSE x.position <> e.position OR x.played <> e.played END
      """, as: Self.read)
  }

  /// Episodes of followed podcasts whose state the server has been told, or has told.
  package func exchanged() throws -> [Int64] {
    try database.numbers(
      """
      SELECT x.episode_id FROM sync_episode x JOIN episode e ON e.id = x.episode_id
        JOIN podcast p ON p.id = e.podcast_id
      WHERE p.is_followed = 1 AND (x.position <> 0 OR x.played <> 0)
      """)
  }

  package mutating func apply(_ state: ListeningState, to episode: Int64) throws {
    if try EpisodeMarks.change(episode, in: database, { known, _ in known = state }) {
      changes.append(.episode(episode))
    }
  }

  package func save(_ state: ExchangedState, of episode: Int64) throws {
    try database.run(
      "INSERT OR REPLACE INTO sync_episode (episode_id, position, played, time) VALUES (?, ?, ?, ?)", episode,
      state.position, state.isPlayed, state.time)
  }
}

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

extension SyncAccount: FieldCoded {
  package init() { self.init(name: "") }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&name, &kind, &hasDevice)
    try fields.code(&subscriptionsSince, &actionsSince, &wholeRead)
    try fields.code(&last, &error, &notBefore)
    try fields.code(&refused)
  }

  /// nil where this device has never synchronized.
  static func load(in database: Database) throws -> SyncAccount? {
    // A damaged file says anything.
    try database.first("SELECT sync_account FROM counter") { try? SyncAccount(decoding: $0.blob(0)[...]) }
      ?? nil
  }

  func save(in database: Database) throws { try database.run("UPDATE counter SET sync_account = ?", encoded) }
}

extension Catalog {
  package func syncAccount() throws(CatalogError) -> SyncAccount? {
    try store.read { try SyncAccount.load(in: $0) }
  }

  /// Changes what is known of an account. Another one than the last begins anew: nothing counts as exchanged.
  package func changeSyncAccount(_ name: String, _ body: (inout SyncAccount) -> Void) throws(CatalogError) {
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
