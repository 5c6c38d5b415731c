internal import FeedKit
internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A podcast's episodes as the catalogue has them, by what an item of its feed is compared with.
struct KnownEpisodes: Sendable {
  struct One: Sendable {
    var id: Int64
    var traits: ItemTraits
    var mediaKey: MediaKey
    var stem: String
    /// When it was published, or first seen.
    var published: Int64
    /// The file's time of modification.
    var modified: Int64
    /// Its address is another episode's by now.
    var isReplaced: Bool
  }

  /// Changes with every change of the podcast's episodes.
  var revision: Int64
  var all: [One]

  init(podcast: Int64, in database: Database) throws {
    guard let numbers = try EpisodeNumbers(podcast: podcast, in: database) else {
      throw CatalogError.unknown("podcast")
    }
    revision = numbers.revision
    all = try EpisodeRow.all(ofPodcast: podcast, Column.list(of: "e"), in: database, as: Self.read)
  }

  private enum Column: Int, ColumnList {
    case id, guid, mediaKey, enclosureURL, title, published, isDated, stem, fingerprint, isReplaced, modified
  }

  private static func read(_ row: borrowing Row) -> One {
    var traits = ItemTraits(
      address: WebAddress(row.string(Column.enclosureURL)), title: row.string(Column.title))
    traits.guid = row.stringIfPresent(Column.guid)
    traits.published = row.bool(Column.isDated) ? row.int64(Column.published) : nil
    traits.fingerprint = row.int64(Column.fingerprint)
    return One(
      id: row.int64(Column.id), traits: traits, mediaKey: EpisodeRow.mediaKey(row.blob(Column.mediaKey)),
      stem: row.string(Column.stem), published: row.int64(Column.published),
      modified: row.int64(Column.modified), isReplaced: row.bool(Column.isReplaced))
  }
}

/// What one page of a feed changes in a podcast: which items are new, under which names, and which episodes it
/// describes otherwise than before. What the feed no longer has stays.
struct MergePlan: Sendable {
  struct Update: Sendable {
    var known: KnownEpisodes.One
    var item: IncomingEpisode
    /// The file's time of modification.
    var modified: Int64

    /// Whether the feed says another date than before.
    var isRedated: Bool { item.published.map { $0 != known.published } ?? false }
  }
  struct Addition: Sendable {
    var item: IncomingEpisode
    var stem: String
    /// The file's time of modification.
    var modified: Int64
    var mediaKey: MediaKey
  }

  /// In the order of their numbers: the full-text index writes all that it has gathered whenever it gets an episode with
  /// a number below the last one.
  var updates: ArraySlice<Update> = []
  /// In the order of publication, so that names don't depend on the order of the feed.
  var additions: ArraySlice<Addition> = []
  /// Episodes whose address is a new one's by now: what is there is not theirs.
  var replaced: [Int64] = []

  /// - Parameter isSerial: whether the feed is a serial (`itunes:type`): names then begin with season and episode.
  init(_ items: [IncomingEpisode], known: KnownEpisodes, isSerial: Bool, now: Int64) {
    let matches = EpisodeMatcher.match(items.map(\.traits), known: known.all.map(\.traits))
    /// The items of known episodes, by these.
    var shown: [Int: IncomingEpisode] = [:]
    var new: [IncomingEpisode] = []
    for (item, match) in zip(items, matches) {
      if match == .new { new.append(item) }
      guard let place = match.place else { continue }
      shown[place] = item
      let one = known.all[place]
      if one.traits.fingerprint != item.traits.fingerprint || one.isReplaced {
        updates.append(Update(known: one, item: item, modified: one.modified))
      }
    }
    updates.sort { $0.known.id < $1.known.id }
    if new.isEmpty && !updates.contains(where: \.isRedated) { return }
    var naming = EpisodeNaming(isSerial: isSerial, now: now)
    for one in known.all {
      naming.add(
        stem: one.stem, published: one.published, isDated: one.traits.published != nil, modified: one.modified
      )
    }
    for place in updates.indices where updates[place].isRedated {
      updates[place].modified = naming.freeTime(from: updates[place].item.published ?? now)
    }
    let isNewestFirst = naming.isNewestFirst(items.map(\.parsed)) {
      matches[$0].place != nil
    }
    let names = naming.name(new.map(\.parsed), isNewestFirst: isNewestFirst)
    add(new, names, known.all, shown, now: now)
  }

  private mutating func add(
    _ new: [IncomingEpisode], _ names: [EpisodeNaming.Name], _ known: [KnownEpisodes.One],
    _ shown: [Int: IncomingEpisode], now: Int64
  ) {
    let byKey = Dictionary(grouping: known.indices) { known[$0].mediaKey }
    let byAddress = Dictionary(grouping: known.indices) { known[$0].traits.address }
    for name in names {
      let item = new[name.place]
      let address = item.enclosure.url
      // An episode at the same address in the same document is the same audio; one that was there earlier is another.
      let isOther = { (place: Int) in shown[place]?.enclosure.url != address }
      let key = MediaKey(address: address)
      let isReused = [byKey[key], byAddress[address]].contains { $0?.contains(where: isOther) ?? false }
      replaced += (byAddress[address] ?? []).filter { shown[$0] == nil }.map { known[$0].id }
      additions.append(
        Addition(
          item: item, stem: name.stem, modified: name.modified,
          mediaKey: isReused ? Self.key(item, now: now) : key))
    }
    replaced = Array(Set(replaced)).sorted()
  }

  /// For an address that was another episode's: the cache must not take one for the other.
  private static func key(_ item: IncomingEpisode, now: Int64) -> MediaKey {
    // Its guid may have been that one's too.
    let mark = "\(item.guid ?? "") \(item.published ?? now) \(item.title)"
    return MediaKey(address: WebAddress("\(mark) \(item.enclosure.url.forRequest)"))
  }
}
