internal import FeedKit
internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// An item of a feed, as the catalogue will keep it. An object, because it goes from list to list, and has two dozen
/// texts.
final class IncomingEpisode: Sendable {
  let parsed: ParsedEpisode
  let enclosure: ParsedEpisode.Enclosure
  let traits: ItemTraits
  /// White space collapsed; empty where the feed has none.
  var title: String { traits.title }
  /// The feed's date, where it has one that is not in the future.
  var published: Int64? { traits.published }
  /// Bytes of the show notes.
  let notesLength: Int

  /// - Returns: nil for an item without enclosure.
  init?(_ parsed: consuming ParsedEpisode, now: Int64) {
    guard let enclosure = parsed.enclosure else { return nil }
    self.enclosure = enclosure
    var traits = parsed.traits(now: now)
    notesLength = parsed.notes?.utf8.count ?? 0
    traits.fingerprint = Self.fingerprint(parsed, traits.published)
    self.traits = traits
    self.parsed = parsed
  }

  /// A number that tells whether the feed says the same of it as before, in every process (FNV-1a, 64 bits).
  private static func fingerprint(_ parsed: ParsedEpisode, _ published: Int64?) -> Int64 {
    var said = parsed
    // Neither its place in the document counts, nor a date in the future.
    (said.index, said.published) = (0, published)
    let hash = said.encoded.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3
    }
    return Int64(bitPattern: hash)
  }
}

/// A podcast's episodes as the catalogue has them, by what an item of its feed is compared with.
struct KnownEpisodes: Sendable {
  struct One: Sendable {
    var id: Int64
    var traits: ItemTraits
    var mediaKey: MediaKey
    var stem: String
    var fileExtension: String
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
    revision = try existing("podcast", EpisodeNumbers(podcast: podcast, in: database)).revision
    all = try EpisodeRow.all(ofPodcast: podcast, Column.list(of: "e"), in: database, as: Self.read)
  }

  private enum Column: Int, ColumnList {
    case id, guid, mediaKey, enclosureURL, title, published, isDated, stem, `extension`, fingerprint,
      isReplaced
    case modified
  }

  private static func read(_ row: borrowing Row) -> One {
    var traits = ItemTraits(
      address: WebAddress(row.string(Column.enclosureURL)), title: row.string(Column.title))
    traits.guid = row.stringIfPresent(Column.guid)
    traits.published = row.bool(Column.isDated) ? row.int64(Column.published) : nil
    traits.fingerprint = row.int64(Column.fingerprint)
    return One(
      id: row.int64(Column.id), traits: traits, mediaKey: EpisodeRow.mediaKey(row.blob(Column.mediaKey)),
      stem: row.string(Column.stem), fileExtension: row.string(Column.extension),
      published: row.int64(Column.published), modified: row.int64(Column.modified),
      isReplaced: row.bool(Column.isReplaced))
  }
}

/// What one page of a feed changes in a podcast: which items are new, under which names, and which episodes it
/// describes otherwise than before. What the feed no longer has stays.
struct MergePlan: Sendable {
  /// A row of an episode. A known one keeps its name, its media key and its marks.
  struct Write: Sendable {
    /// nil for a new one.
    var known: KnownEpisodes.One?
    var item: IncomingEpisode
    var stem: String
    var modified: Int64
    var mediaKey: MediaKey

    init(_ item: IncomingEpisode, _ known: KnownEpisodes.One) {
      (self.known, self.item) = (known, item)
      (stem, modified, mediaKey) = (known.stem, known.modified, known.mediaKey)
    }

    init(_ item: IncomingEpisode, stem: String, modified: Int64, mediaKey: MediaKey) {
      (self.item, self.stem, self.modified, self.mediaKey) = (item, stem, modified, mediaKey)
    }

    var isRedated: Bool { known.map { item.published ?? $0.published != $0.published } ?? false }

    /// The columns of the row, but for its numbers and marks.
    /// - Parameter now: when it counts as published where nothing says.
    func columns(now: Int64) -> KeyValuePairs<String, any Bindable> {
      let parsed = item.parsed
      return [
        "guid": item.traits.guid, "title": item.title, "published": item.published ?? known?.published ?? now,
        "is_dated": item.published != nil, "fingerprint": item.traits.fingerprint, "modified": modified,
        "enclosure_url": item.enclosure.url.forRequest, "feed_length": item.enclosure.length,
        "media_type": item.enclosure.type.map(MediaType.essence), "media_key": mediaKey.bytes, "stem": stem,
        "extension": known?.fileExtension ?? parsed.fileExtension, "duration": parsed.duration,
        "season": parsed.season, "number": parsed.episode, "type": parsed.episodeType,
        "explicit": parsed.explicit, "link": parsed.link?.forRequest,
        "image_url": parsed.imageURL?.forRequest,
        "transcripts": parsed.transcripts.isEmpty ? nil : parsed.transcripts.encoded,
        "chapters_url": parsed.chaptersURL?.forRequest,
        "notes_length": item.notesLength, "people": PersonRows.text(parsed.people), "is_replaced": false,
      ]
    }
  }

  /// Known ones in the order of their numbers: the full-text index writes all that it has gathered whenever it gets an episode
  /// with a number below the last one. Then new ones in the order of publication, so that names don't depend on the order of
  /// the feed.
  private(set) var writes: ArraySlice<Write> = []
  /// Episodes whose address is a new one's by now: what is there is not theirs.
  private(set) var replaced: [Int64] = []

  /// - Parameter isSerial: whether the feed is a serial (`itunes:type`): names then begin with season and episode.
  init(_ items: [IncomingEpisode], known: KnownEpisodes, isSerial: Bool, now: Int64) {
    let matches = EpisodeMatcher.match(items.map(\.traits), known: known.all.map(\.traits))
    var shown: [Int: IncomingEpisode] = [:]
    var new: [IncomingEpisode] = []
    for (item, match) in zip(items, matches) {
      if match == .new { new.append(item) }
      guard let place = match.place else { continue }
      shown[place] = item
      let one = known.all[place]
      if one.traits.fingerprint != item.traits.fingerprint || one.isReplaced {
        writes.append(Write(item, one))
      }
    }
    writes.sort { ($0.known?.id ?? 0) < ($1.known?.id ?? 0) }
    if new.isEmpty && !writes.contains(where: \.isRedated) { return }
    var naming = EpisodeNaming(isSerial: isSerial, now: now)
    for one in known.all {
      naming.add(
        stem: one.stem, published: one.published, isDated: one.traits.published != nil, modified: one.modified
      )
    }
    for place in writes.indices where writes[place].isRedated {
      writes[place].modified = naming.freeTime(from: writes[place].item.published ?? now)
    }
    let isNewestFirst = naming.isNewestFirst(items.map(\.parsed)) { matches[$0].place != nil }
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
      writes.append(
        Write(
          item, stem: name.stem, modified: name.modified, mediaKey: isReused ? Self.key(item, now: now) : key)
      )
    }
    replaced = Array(Set(replaced)).sorted()
  }

  /// For an address that was another episode's: the cache must not take one for the other.
  private static func key(_ item: IncomingEpisode, now: Int64) -> MediaKey {
    // Its guid may have been that one's too.
    let mark = "\(item.traits.guid ?? "") \(item.published ?? now) \(item.title)"
    return MediaKey(address: WebAddress("\(mark) \(item.enclosure.url.forRequest)"))
  }

  /// Removes what one transaction may write, some tens of milliseconds' worth, and returns it. A known episode costs more: the
  /// full-text index has to lose its old words.
  mutating func removePiece() -> MergePlan {
    var part = self
    var (room, bytes) = (1000, 2 << 20)
    part.writes = writes.prefix { write in
      defer { (room, bytes) = (room - (write.known == nil ? 1 : 5), bytes - write.item.notesLength) }
      return room > 0 && bytes > 0
    }
    writes = writes.dropFirst(part.writes.count)
    replaced = []
    return part
  }
}
