internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What a podcast is called and what is said of it, as its row has it. The counts of its episodes beside that are kept by
/// who changes those (`EpisodeNumbers`).
struct PodcastRecord: Hashable, Sendable {
  let id: Int64
  /// In `Downloaded/`.
  var name: String
  /// The name was made of a host: it lasts until the feed says its title.
  var isProvisional = false
  /// What the feed, a list or a directory says; a host's name where none did (`hasTitle`).
  var title: String
  var hasTitle = true
  var author: String?
  var link: WebAddress?
  var language: String?
  /// One a line.
  var categories: String?
  var description: String?
  var imageURL: WebAddress?
  var explicit: Bool?
  /// `podcast:guid`: names the podcast wherever it is.
  var guid: String?
  /// When its directories last listed other things, in nanoseconds since 1970.
  var changed: Int64 = 0
  /// A public directory names the feed: its address holds no secret.
  var isListed = false

  private enum Column: Int, ColumnList {
    case id, name, nameKey, isProvisional, title, hasTitle, author, link, language, categories, description,
      imageURL
    case explicit, guid, changed, isListed
  }

  private static let columns = Column.list(of: "p")
  private static let names = Column.allCases.dropFirst().map(\.name)

  private static func read(_ row: borrowing Row) -> PodcastRecord {
    var podcast = PodcastRecord(
      id: row.int64(Column.id), name: row.string(Column.name), title: row.string(Column.title))
    podcast.isProvisional = row.bool(Column.isProvisional)
    podcast.hasTitle = row.bool(Column.hasTitle)
    podcast.author = row.stringIfPresent(Column.author)
    podcast.link = row.stringIfPresent(Column.link).map { WebAddress($0) }
    podcast.language = row.stringIfPresent(Column.language)
    podcast.categories = row.stringIfPresent(Column.categories)
    podcast.description = row.stringIfPresent(Column.description)
    podcast.imageURL = row.stringIfPresent(Column.imageURL).map { WebAddress($0) }
    podcast.explicit = row.boolIfPresent(Column.explicit)
    podcast.guid = row.stringIfPresent(Column.guid)
    podcast.changed = row.int64(Column.changed)
    podcast.isListed = row.bool(Column.isListed)
    return podcast
  }

  /// In the order of `names`.
  private var values: [any Bindable] {
    [
      name, UniqueNames.key(name), isProvisional, title, hasTitle, author, link?.forRequest, language,
      categories,
      description, imageURL?.forRequest, explicit, guid, changed, isListed,
    ]
  }

  /// - Returns: nil for one that is not known, or forgotten.
  static func load(_ id: Int64, in database: Database) throws -> PodcastRecord? {
    try database.first("SELECT \(columns) FROM podcast p WHERE p.id = ? AND p.is_forgotten = 0", id, as: read)
  }

  /// A new podcast, under a name that no other has.
  static func insert(title: String, hasTitle: Bool, in database: Database) throws -> PodcastRecord {
    let name = try NameClaim.free(EpisodeName.directoryName(title: title)) { try isTaken($0, in: database) }
    var podcast = PodcastRecord(id: 0, name: name, title: title)
    (podcast.hasTitle, podcast.isProvisional) = (hasTitle, !hasTitle)
    try database.run(Database.insertion(into: "podcast", names), values: podcast.values)
    let id = database.lastInsertedID
    try FullText.indexPodcast(id, in: database)
    guard let new = try load(id, in: database) else { throw CatalogError.unknown("podcast") }
    return new
  }

  static func isTaken(_ name: String, besides id: Int64 = 0, in database: Database) throws -> Bool {
    try database.exists("SELECT 1 FROM podcast WHERE name_key = ? AND id <> ?", UniqueNames.key(name), id)
  }

  /// Also in the full-text index.
  /// - Parameter old: as it was loaded in this transaction.
  func save(replacing old: PodcastRecord, in database: Database) throws {
    if self == old { return }
    let isOtherText = texts != old.texts
    if isOtherText { try FullText.removePodcast(id, in: database) }
    try database.run(Database.change(of: "podcast", Self.names), values: values + [id])
    if isOtherText { try FullText.indexPodcast(id, in: database) }
  }

  private var texts: [String?] { [title, author, description, categories] }
}

extension PodcastRecord {
  /// What the feed says of itself. What it does not say is so, where it came whole; a podcast always has a title.
  mutating func take(_ feed: FetchedFeed, isWhole: Bool) {
    func said<Value>(_ new: Value?, _ old: Value?) -> Value? { new ?? (isWhole ? nil : old) }
    if let title = feed.title.map(TitleText.line), !title.isEmpty { (self.title, hasTitle) = (title, true) }
    author = said((feed.author ?? feed.owner).map(TitleText.line).flatMap(Self.filled), author)
    link = said(feed.link, link)
    language = said(feed.language.flatMap(Self.filled), language)
    categories = said(PodcastRow.joined(feed.categories), categories)
    description = said(feed.description.flatMap(Self.filled), description)
    imageURL = said(feed.imageURL, imageURL)
    explicit = said(feed.explicit, explicit)
  }

  /// What a search says, which counts until the feed has been fetched.
  mutating func take(_ found: FoundPodcast) {
    if found.hasTitle { (title, hasTitle) = (found.title, true) }
    author = found.author ?? author
    link = found.link ?? link
    language = found.language ?? language
    categories = PodcastRow.joined(found.categories) ?? categories
    description = found.description ?? description
    imageURL = found.imageURL ?? imageURL
    explicit = found.explicit ?? explicit
  }

  private static func filled(_ text: String) -> String? { text.isEmpty ? nil : text }
}
