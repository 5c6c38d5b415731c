internal import FeedKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A podcast as its row has it: loaded, changed as a value, and saved once. What its feed's row says of it is read too, but
/// saved by `FeedRecord`; the counts of its episodes are kept by `EpisodeNumbers`.
@dynamicMemberLookup
struct PodcastRecord: Hashable, Sendable {
  /// Its title is a host's name where neither feed, list nor directory says one (`hasTitle`); so are its names.
  private(set) var podcast: Podcast
  var hasTitle = true
  /// `podcast:guid`: names the podcast wherever it is.
  var guid: String?
  /// `podcast:person` of the channel, a name a line.
  var people: String?
  /// When its directories last listed other things, in nanoseconds since 1970.
  var changed: Int64 = 0

  subscript<Value>(dynamicMember fact: WritableKeyPath<Podcast, Value>) -> Value {
    get { podcast[keyPath: fact] }
    set { podcast[keyPath: fact] = newValue }
  }

  private enum Column: Int, ColumnList {
    case id, feedURL, title, name, author, link, language, categories, description, imageURL, explicit
    case episodeCount, lastRefresh, nextRefresh, error, isPrivate, isListed, created, unplayedCount
    // What is not shown.
    case hasTitle, guid, changed, people
  }

  /// How many columns `readPodcast` reads, and those for a `FROM shown p`.
  static let shownCount = Column.unplayedCount.rawValue + 1
  static let shownColumns = Column.allCases.prefix(shownCount).map { "p.\($0.name)" }.joined(separator: ", ")

  /// - Parameter first: the column where `shownColumns` begin.
  static func readPodcast(_ row: borrowing Row, from first: Int = 0) -> Podcast {
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
    podcast.unplayedCount = row.int(Column.unplayedCount, from: first)
    return podcast
  }

  private static let names = [
    "name", "name_key", "title", "has_title", "author", "link", "language", "categories",
    "description", "image_url", "explicit", "guid", "changed", "is_listed", "people",
  ]

  private var values: [any Bindable] {
    [
      podcast.name, UniqueNames.key(podcast.name), podcast.title, hasTitle, podcast.author,
      podcast.link?.forRequest, podcast.language, categories, podcast.description,
      podcast.imageURL?.forRequest, podcast.explicit, guid, changed, podcast.isListed, people,
    ]
  }

  private var categories: String? {
    podcast.categories.isEmpty
      ? nil : podcast.categories.map { $0.replacing("\n", with: " ") }.joined(separator: "\n")
  }

  /// - Returns: nil for one that is not known, or forgotten.
  static func load(_ id: Int64, in database: Database) throws -> PodcastRecord? {
    try database.first("SELECT \(Column.list(of: "p")) FROM shown p WHERE p.id = ?", id) { row in
      PodcastRecord(
        podcast: readPodcast(row), hasTitle: row.bool(Column.hasTitle),
        guid: row.stringIfPresent(Column.guid),
        people: row.stringIfPresent(Column.people), changed: row.int64(Column.changed))
    }
  }

  /// Also in the full-text index.
  /// - Parameter old: as it was loaded in this transaction.
  func save(replacing old: PodcastRecord, in database: Database) throws {
    if self == old { return }
    let isOtherText = texts != old.texts
    if isOtherText { try FullText.removePodcast(podcast.id, in: database) }
    try database.run(Database.change(of: "podcast", Self.names), values: values + [podcast.id])
    if isOtherText { try FullText.indexPodcast(podcast.id, in: database) }
  }

  private var texts: [String?] { [podcast.title, podcast.author, podcast.description, categories] }
}

// How podcasts come into the catalogue; within a transaction.
extension PodcastRecord {
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
    let known = try other(than: 0, at: found.feedURL, in: database)
    let id = try known ?? insert(found, in: database)
    guard var feed = try FeedRecord.load(id, in: database), let old = try load(id, in: database)
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

  private static func insert(_ found: FoundPodcast, in database: Database) throws -> Int64 {
    let name = try NamedRows.podcasts.free(EpisodeName.directoryName(title: found.title), in: database)
    let new = PodcastRecord(
      podcast: Podcast(id: 0, feedURL: found.feedURL, title: found.title, name: name),
      hasTitle: found.hasTitle)
    try database.run(Database.insertion(into: "podcast", names), values: new.values)
    let id = database.lastInsertedID
    try FullText.indexPodcast(id, in: database)
    try FeedRecord(podcast: id, feedURL: found.feedURL).save(in: database)
    try FormerAddresses.take(found.feedURL, in: database)
    return id
  }

  static func other(than id: Int64, at address: WebAddress, in database: Database) throws -> Int64? {
    try database.number(
      "SELECT podcast_id FROM feed WHERE feed_key = ? AND podcast_id <> ?", FeedKey.text(address), id
    )
  }

  /// What the feed says of itself. What it does not say is so; a podcast always has a title.
  mutating func take(_ feed: FetchedFeed) {
    if podcast.take(feed) { hasTitle = true }
    people = PersonRows.text(feed.people.map(TitleText.line))
    guid = feed.guid ?? guid
  }

  /// What a search says, which counts until the feed has been fetched.
  private mutating func take(_ found: FoundPodcast) {
    // The names of one without a title last until its feed has come.
    if found.hasTitle, hasTitle { podcast.title = found.title }
    podcast.author = found.author ?? podcast.author
    podcast.link = found.link ?? podcast.link
    podcast.language = found.language ?? podcast.language
    if !found.categories.isEmpty { podcast.categories = found.categories }
    podcast.description = found.description ?? podcast.description
    podcast.imageURL = found.imageURL ?? podcast.imageURL
    podcast.explicit = found.explicit ?? podcast.explicit
  }
}

extension Podcast {
  /// - Returns: whether the feed has a title.
  @discardableResult
  mutating func take(_ feed: FetchedFeed) -> Bool {
    func filled(_ text: String) -> String? { text.isEmpty ? nil : text }
    author = feed.author.map(TitleText.line).flatMap(filled)
    (link, imageURL, explicit, categories) = (feed.link, feed.imageURL, feed.explicit, feed.categories)
    (language, description) = (feed.language.flatMap(filled), feed.description.flatMap(filled))
    guard let line = feed.title.map(TitleText.line).flatMap(filled) else { return false }
    title = line
    return true
  }
}

extension Catalog {
  package func podcast(_ id: Int64) throws(CatalogError) -> Podcast? { try podcasts([id]).first }

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
      try database.all("SELECT \(PodcastRecord.shownColumns) FROM shown p WHERE \(condition)", value) {
        PodcastRecord.readPodcast($0)
      }
    }
  }
}
