internal import FeedKit
package import PodcastModel
internal import PosixKit
package import SQLiteKit

extension Podcast: RowCoded {
  static let source = "podcast p JOIN feed f ON f.podcast_id = p.id"

  /// For a `FROM \(source)`.
  package mutating func code(_ row: inout RowCoder) {
    row.code("p.id", &id)
    row.code("p.title", &title)
    row.code("p.name", &name)
    row.save("p.name_key", UniqueNames.key(name))
    row.code("p.author", &author)
    row.code("p.link", &link)
    row.code("p.language", &language)
    row.code("p.categories", lines: &categories)
    row.code("p.description", &description)
    row.code("p.image_url", &imageURL)
    row.code("p.explicit", &explicit)
    row.code("p.is_listed", &isListed)
    row.read("p.created", &created)
    row.read("p.episode_count", &episodeCount)
    row.read(
      """
      p.episode_count - p.hidden_count - (SELECT count(*) FROM episode e INDEXED BY episode_played
        WHERE e.podcast_id = p.id AND e.hidden = 0 AND e.played = 1)
      """, &unplayedCount)
    row.save("f.podcast_id", id)
    row.code("f.feed_url", &feedURL)
    row.save("f.feed_key", FeedKey.text(feedURL))
    row.code("f.last_refresh", time: &lastRefresh)
    row.code("f.next_refresh", time: &nextRefresh)
    row.code("f.error", &error)
    row.code("f.is_private", &allowsPrivateHosts)
  }
}

/// A podcast and its feed as their rows have them: loaded, changed as a value, and saved once. Its title is a host's name
/// where neither feed, list nor directory says one (`hasTitle`); so are its names.
@dynamicMemberLookup
struct PodcastRecord: RowCoded, Equatable, Sendable {
  private(set) var podcast = Podcast()
  var hasTitle = true
  /// `podcast:guid`: names the podcast wherever it is.
  var guid: String?
  /// `podcast:person` of the channel.
  var people: [String] = []
  /// When its directories last listed other things, in nanoseconds since 1970.
  var changed: Int64 = 0

  /// The user has typed the address: it may lead to a private host.
  var mayBePrivate = false
  /// A copy of the podcast's, for the index of those that are due.
  private(set) var isFollowed = false
  /// A process is refreshing it, and counts as gone then.
  var claimedUntil: Int64?
  /// In a row.
  var failures = 0
  /// Another network may give another answer.
  var isAway = false
  private var memory = FeedMemory()

  subscript<Value>(dynamicMember fact: WritableKeyPath<Podcast, Value>) -> Value {
    get { podcast[keyPath: fact] }
    set { podcast[keyPath: fact] = newValue }
  }

  subscript<Value>(dynamicMember fact: WritableKeyPath<FeedMemory, Value>) -> Value {
    get { memory[keyPath: fact] }
    set { memory[keyPath: fact] = newValue }
  }

  mutating func code(_ row: inout RowCoder) {
    podcast.code(&row)
    row.code("p.has_title", &hasTitle)
    row.code("p.guid", &guid)
    row.code("p.people", lines: &people)
    row.code("p.changed", &changed)
    row.code("f.may_be_private", &mayBePrivate)
    row.code("f.is_followed", &isFollowed)
    row.code("f.claimed_until", time: &claimedUntil)
    row.code("f.failures", &failures)
    row.code("f.is_away", &isAway)
    row.code("f.memory", packed: &memory)
    // A damaged file says anything.
    failures = min(max(failures, 0), 1_000_000)
    if !memory.isSensible { memory = FeedMemory() }
  }
}

/// What no query looks at of how a feed answered: one column.
struct FeedMemory: FieldCoded, Equatable {
  /// What the next request says (RFC 9110 §13.1), verbatim.
  var etag: String?
  var lastModified: String?
  /// Of the last body that was read.
  var digest: Int64?
  /// Where redirects ended that led to the last feed; nil where none did.
  var cameFrom: WebAddress?
  /// RSS `ttl`, in minutes: a 304 does not repeat it.
  var timeToLive: Int?
  /// `itunes:complete`
  var isComplete = false
  /// `itunes:type`: episodes are to be heard in order.
  var isSerial = false
  var firstRefresh: Int64?
  /// When the last answer came that was no 304.
  var lastWhole: Int64?
  /// Until when the server wishes not to be asked.
  var notBefore: Int64?
  /// What a person should know of the feed as it last came, though nothing failed.
  var notice: String?
  /// Where the feed says that it has moved, and since when; or until when that is not tried again.
  var movedTo: WebAddress?
  var movedSince: Int64?
  /// `movedTo` is the feed's own word.
  var isAnnounced = false
  var archive = ArchiveState()

  mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&etag, &lastModified, &digest)
    try fields.code(&cameFrom, &timeToLive, &isComplete)
    try fields.code(&isSerial, &firstRefresh, &lastWhole)
    try fields.code(&notBefore, &notice, &movedTo)
    try fields.code(&movedSince, &isAnnounced, &archive)
  }

  /// A damaged file says anything.
  fileprivate var isSensible: Bool {
    let numbers = [firstRefresh, lastWhole, notBefore, movedSince, archive.notBefore, archive.bytes]
    return numbers.allSatisfy { (-1 << 40...1 << 50).contains($0 ?? 0) }
      && (0...1000).contains(archive.failures)
  }
}

// How a podcast lies in its rows; within a transaction.
extension PodcastRecord {
  /// - Returns: nil for one that is not known, or forgotten.
  static func load(_ id: Int64, in database: Database) throws -> PodcastRecord? {
    try database.first("SELECT \(columns) FROM \(Podcast.source) WHERE p.id = ?", id) { PodcastRecord($0) }
  }

  @discardableResult
  static func change<R>(
    _ id: Int64, in database: Database, _ body: (inout PodcastRecord) throws -> R
  ) throws -> R? {
    guard let old = try load(id, in: database) else { return nil }
    var podcast = old
    let result = try body(&podcast)
    try podcast.save(replacing: old, in: database)
    return result
  }

  /// Also in the full-text index.
  /// - Parameter old: as it is in its rows.
  private func save(replacing old: PodcastRecord, in database: Database) throws {
    if self == old { return }
    let texts = { (podcast: Podcast) in
      [podcast.title, podcast.author, podcast.description] + podcast.categories
    }
    let isOtherText = texts(podcast) != texts(old.podcast)
    if isOtherText { try FullText.podcast(podcast.id, removing: true, in: database) }
    if !hasSameFacts(as: old) || changed != old.changed {
      try database.save([self], into: "podcast", as: "p")
    }
    if isOtherText { try FullText.podcast(podcast.id, in: database) }
    try database.save([self], into: "feed", as: "f")
    // The list beside the catalogue says whether it may be private.
    let privacy = { (record: Self) in
      [record.mayBePrivate, record.podcast.allowsPrivateHosts, record.podcast.lastRefresh == nil]
    }
    if privacy(self) != privacy(old) { try SubscriptionRows.lineChanged(podcast: podcast.id, in: database) }
  }

  /// What is known of the podcast but for how its feed came.
  func hasSameFacts(as old: PodcastRecord) -> Bool {
    var same = old.podcast
    (same.feedURL, same.lastRefresh, same.nextRefresh) = (
      podcast.feedURL, podcast.lastRefresh, podcast.nextRefresh
    )
    (same.error, same.allowsPrivateHosts) = (podcast.error, podcast.allowsPrivateHosts)
    return same == podcast && hasTitle == old.hasTitle && guid == old.guid && people == old.people
  }

  /// The key (`FeedKey`) of its address, then those of its former ones: what the configuration says of them goes on to
  /// apply, and no feed that announces one of them is followed back.
  static func keys(of id: Int64, in database: Database) throws -> [String] {
    try database.all(
      """
      SELECT feed_key FROM feed WHERE podcast_id = ?1
      UNION ALL SELECT feed_key FROM former_address WHERE podcast_id = ?1
      """, id
    ) { $0.string(0) }
  }

  static func other(than id: Int64, at address: WebAddress, in database: Database) throws -> Int64? {
    try database.number(
      "SELECT podcast_id FROM feed WHERE feed_key = ? AND podcast_id <> ?", FeedKey.text(address), id)
  }
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
    try change(id, in: database) { podcast in
      podcast.mayBePrivate = podcast.mayBePrivate || mayBePrivate
      podcast.isListed = podcast.isListed || found.isListed
      if podcast.lastRefresh == nil, known == nil || !isNamed { podcast.take(found) }
    }
    return id
  }

  private static func insert(_ found: FoundPodcast, in database: Database) throws -> Int64 {
    let name = try NamedRows.podcasts.free(EpisodeName.directoryName(title: found.title), in: database)
    try database.run(
      "INSERT INTO podcast (name, name_key, title, has_title) VALUES (?, ?, ?, ?)", name,
      UniqueNames.key(name), found.title, found.hasTitle)
    var new = PodcastRecord()
    (new.id, new.feedURL) = (database.lastInsertedID, found.feedURL)
    try FullText.podcast(new.id, in: database)
    try database.save([new], into: "feed", as: "f")
    try database.run("DELETE FROM former_address WHERE feed_key = ?", FeedKey.text(found.feedURL))
    return new.id
  }

  /// What the feed says of itself. What it does not say is so; a podcast always has a title.
  mutating func take(_ feed: FetchedFeed) {
    if podcast.take(feed) { hasTitle = true }
    people = feed.people.map(TitleText.line)
    guid = feed.guid ?? guid
  }

  /// What a search says, which counts until the feed has been fetched.
  private mutating func take(_ found: FoundPodcast) {
    // The names of one without a title last until its feed has come.
    if found.hasTitle, hasTitle { podcast.title = found.title }
    var said = found
    said.complete(with: FoundPodcast(podcast: podcast))
    (podcast.author, podcast.link, podcast.language) = (said.author, said.link, said.language)
    (podcast.categories, podcast.description) = (said.categories, said.description)
    (podcast.imageURL, podcast.explicit) = (said.imageURL, said.explicit)
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
    try podcasts("p.id IN (SELECT value FROM json_each(?))", EpisodeRows.list(ids))
  }

  /// The podcast whose feed has this address, written in any way that means the same.
  package func podcast(feedURL: String) throws(CatalogError) -> Podcast? {
    try podcasts(
      "f.feed_key = ?", FeedKey.text(SubscriptionAddress.normalized(feedURL) ?? WebAddress(feedURL))
    ).first
  }

  /// The podcast whose directory in `Downloaded/` has this name.
  package func podcast(named name: String) throws(CatalogError) -> Podcast? {
    try podcasts("p.name_key = ?", UniqueNames.key(name)).first { $0.name == name }
  }

  private func podcasts(_ condition: String, _ value: String) throws(CatalogError) -> [Podcast] {
    try store.read { database in
      try database.all("SELECT \(Podcast.columns) FROM \(Podcast.source) WHERE \(condition)", value) {
        Podcast($0)
      }
    }
  }
}
