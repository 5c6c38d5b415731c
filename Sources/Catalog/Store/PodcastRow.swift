internal import FeedKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// How a podcast lies in its row.
enum PodcastRow {
  enum Column: Int, ColumnList {
    case id, feedURL, title, name, author, link, language, categories, description, imageURL, explicit,
      episodeCount
    case lastRefresh, nextRefresh, error, isPrivate, isListed, created
  }

  /// For a `FROM shown p`.
  static let columns = Column.list(of: "p")
  static let count = Column.count

  /// - Parameter first: the column where `columns` begin.
  static func read(_ row: borrowing Row, from first: Int = 0) -> Podcast {
    var podcast = Podcast(
      id: row.int64(Column.id, from: first), feedURL: WebAddress(row.string(Column.feedURL, from: first)),
      title: row.string(Column.title, from: first), name: row.string(Column.name, from: first))
    podcast.author = row.stringIfPresent(Column.author, from: first)
    podcast.link = row.stringIfPresent(Column.link, from: first).map { WebAddress($0) }
    podcast.language = row.stringIfPresent(Column.language, from: first)
    podcast.categories = row.string(Column.categories, from: first).split(separator: "\n").map(String.init)
    podcast.description = row.stringIfPresent(Column.description, from: first)
    podcast.imageURL = row.stringIfPresent(Column.imageURL, from: first).map { WebAddress($0) }
    podcast.explicit = row.boolIfPresent(Column.explicit, from: first)
    podcast.episodeCount = row.int(Column.episodeCount, from: first)
    podcast.lastRefresh = row.int64IfPresent(Column.lastRefresh, from: first)
    podcast.nextRefresh = row.int64IfPresent(Column.nextRefresh, from: first)
    podcast.error = row.stringIfPresent(Column.error, from: first)
    podcast.allowsPrivateHosts = row.bool(Column.isPrivate, from: first)
    podcast.isListed = row.bool(Column.isListed, from: first)
    podcast.created = row.int64(Column.created, from: first)
    return podcast
  }

  /// Categories as one text.
  static func joined(_ categories: [String]) -> String? {
    categories.isEmpty ? nil : categories.map { $0.replacing("\n", with: " ") }.joined(separator: "\n")
  }
}

// Queries for podcasts.
extension PodcastRow {
  static func podcast(_ id: Int64, in database: Database) throws -> Podcast? {
    try database.first("SELECT \(columns) FROM shown p WHERE p.id = ?", id) { read($0) }
  }

  /// Another podcast than this with that address.
  static func other(than id: Int64, at address: WebAddress, in database: Database) throws -> Int64? {
    try database.first(
      "SELECT podcast_id FROM feed WHERE feed_key = ? AND podcast_id <> ?", FeedKey.text(address), id
    ) { $0.int64(0) }
  }

  /// Whether no podcast but these says this `podcast:guid`.
  static func isGuid(_ guid: String, ofNoneBut ids: [Int64], in database: Database) throws -> Bool {
    try !database.exists(
      "SELECT 1 FROM podcast WHERE guid = ? AND id NOT IN (SELECT value FROM json_each(?))", guid,
      EpisodeRow.list(ids))
  }
}

// How podcasts come into the catalogue; within a transaction.
extension PodcastRow {
  /// A podcast that the user names himself.
  /// - Parameter mayBePrivate: whether he named the very address, which then may be on a private host.
  static func recordNamed(
    _ url: WebAddress, title: String?, mayBePrivate: Bool, in database: Database
  ) throws -> Int64 {
    guard var found = FoundPodcast(feed: url.forRequest, title: title) else {
      throw CatalogError(.EINVAL, "not a feed address")
    }
    found.isListed = false
    return try record(found, mayBePrivate: mayBePrivate, isNamed: true, in: database)
  }

  /// The podcast with this feed, new or not. What a search says counts until its feed has been fetched.
  /// - Parameter isNamed: the user named the feed: what is known of it stays.
  /// - Returns: the podcast's number.
  static func record(
    _ found: FoundPodcast, mayBePrivate: Bool, isNamed: Bool = false, in database: Database
  ) throws -> Int64 {
    let known = try database.first(
      "SELECT podcast_id FROM feed WHERE feed_key = ?", FeedKey.text(found.feedURL)
    ) { $0.int64(0) }
    let id: Int64
    if let known {
      id = known
    } else {
      id = try PodcastRecord.insert(title: found.title, hasTitle: found.hasTitle, in: database).id
      try FeedRecord(podcast: id, feedURL: found.feedURL).save(in: database)
      try FormerAddresses.take(found.feedURL, in: database)
    }
    guard var feed = try FeedRecord.load(id, in: database), let old = try PodcastRecord.load(id, in: database)
    else { throw CatalogError.unknown("podcast") }
    if mayBePrivate, !feed.mayBePrivate {
      feed.mayBePrivate = true
      try feed.save(in: database)
    }
    var podcast = old
    podcast.isListed = podcast.isListed || found.isListed
    if feed.lastRefresh == nil, known == nil || !isNamed { podcast.take(found) }
    try podcast.save(replacing: old, in: database)
    return id
  }
}

extension Catalog {
  package func podcast(_ id: Int64) throws(CatalogError) -> Podcast? {
    try store.read { try PodcastRow.podcast(id, in: $0) }
  }

  /// Those of these podcasts that are known, in no order.
  package func podcasts(_ ids: [Int64]) throws(CatalogError) -> [Podcast] {
    try podcasts("p.id IN (SELECT value FROM json_each(?))", EpisodeRow.list(ids))
  }

  /// The podcast whose feed has this address, written in any way that means the same.
  package func podcast(feedURL: String) throws(CatalogError) -> Podcast? {
    let address = SubscriptionAddress.normalized(feedURL) ?? WebAddress(feedURL)
    return try podcasts("p.feed_key = ?", FeedKey.text(address)).first
  }

  /// The podcast whose directory in `Downloaded/` has this name.
  package func podcast(named name: String) throws(CatalogError) -> Podcast? {
    try podcasts("p.name_key = ?", UniqueNames.key(name)).first { $0.name == name }
  }

  private func podcasts(_ condition: String, _ value: String) throws(CatalogError) -> [Podcast] {
    try store.read { database in
      try database.all("SELECT \(PodcastRow.columns) FROM shown p WHERE \(condition)", value) {
        PodcastRow.read($0)
      }
    }
  }
}
