internal import FeedKit
internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A feed as it came, its episodes made ready for the catalogue.
@dynamicMemberLookup
struct FetchedFeed: Sendable {
  let channel: ParsedFeed
  let episodes: [IncomingEpisode]

  init(_ feed: consuming ParsedFeed, now: Int64) {
    episodes = feed.episodes.compactMap { IncomingEpisode($0, now: now) }
    feed.episodes = []
    channel = feed
  }

  subscript<Value>(dynamicMember fact: KeyPath<ParsedFeed, Value>) -> Value { channel[keyPath: fact] }
}

/// An item of a feed, as the catalogue will keep it. An object, because it goes from list to list, and has two dozen
/// texts.
final class IncomingEpisode: Sendable {
  let parsed: ParsedEpisode
  let enclosure: ParsedEpisode.Enclosure
  let traits: ItemTraits

  /// - Returns: nil for an item without enclosure.
  init?(_ parsed: consuming ParsedEpisode, now: Int64) {
    guard let enclosure = parsed.enclosure else { return nil }
    self.enclosure = enclosure
    var traits = parsed.traits(now: now)
    traits.title = TitleText.plain(traits.title)
    traits.fingerprint = Self.fingerprint(parsed, traits.published)
    (self.traits, self.parsed) = (traits, parsed)
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

extension EpisodeRecord {
  var traits: ItemTraits {
    var traits = ItemTraits(address: episode.enclosureURL, title: episode.title)
    traits.guid = episode.guid
    traits.published = episode.isDated ? episode.published : nil
    traits.fingerprint = fingerprint
    return traits
  }

  /// Gives an episode a media key that no other episode at its address has. Its guid may have been that one's too, and
  /// another feed may give the same edition a guid of its own.
  mutating func takeOwnKey() {
    episode.mediaKey = MediaKey(
      address: episode.enclosureURL, mark: "\(episode.published) \(episode.title)")
  }

  /// What the feed says of it now. Names, media key and marks stay.
  mutating func take(_ item: IncomingEpisode) {
    let (said, traits) = (item.parsed, item.traits)
    (episode.guid, episode.title, fingerprint) = (traits.guid, traits.title, traits.fingerprint)
    episode.published = traits.published ?? episode.published
    episode.isDated = traits.published != nil
    (episode.enclosureURL, episode.isReplaced) = (item.enclosure.url, false)
    (episode.feedLength, episode.mediaType) = (
      item.enclosure.length, item.enclosure.type.map(MediaType.essence)
    )
    (episode.duration, episode.season, episode.episode) = (said.duration, said.season, said.episode)
    (episode.explicit, episode.link, episode.imageURL) = (said.explicit, said.link, said.imageURL)
    (episode.transcripts, episode.chaptersURL) = (said.transcripts, said.chaptersURL)
    (episode.notes, episode.chapters) = (said.notes, said.chapters)
    episode.notesLength = said.notes?.utf8.count ?? 0
    (type, people) = (said.episodeType, said.people)
  }
}

/// What one page of a feed changes in a podcast: which items are new, under which names, and which episodes it
/// describes otherwise than before. What the feed no longer has stays.
struct MergePlan: Sendable {
  /// Known ones in the order of their numbers: the full-text index writes all that it has gathered whenever it gets an episode
  /// with a number below the last one. Then new ones, which have no number yet, in the order of publication, so that names
  /// don't depend on the order of the feed.
  private(set) var writes: ArraySlice<EpisodeRecord> = []
  /// Episodes whose address is a new one's by now: what is there is not theirs.
  private(set) var replaced: [Int64] = []

  /// - Parameters:
  ///   - isSerial: whether the feed is a serial (`itunes:type`): names then begin with season and episode.
  ///   - now: when an item counts as published where nothing says.
  init(_ items: [IncomingEpisode], known: [EpisodeRecord], podcast: Int64, isSerial: Bool, now: Int64) {
    let matches = EpisodeMatcher.match(items.map(\.traits), known: known.map(\.traits))
    var shown: [Int: WebAddress] = [:]
    lazy var naming = {
      var naming = EpisodeNaming(isSerial: isSerial, now: now)
      for episode in known {
        naming.add(
          stem: episode.stem, published: episode.published, isDated: episode.isDated,
          modified: episode.modified)
      }
      return naming
    }()
    for (item, match) in zip(items, matches) {
      guard let place = match.place else { continue }
      shown[place] = item.enclosure.url
      var episode = known[place]
      if episode.fingerprint == item.traits.fingerprint && !episode.isReplaced { continue }
      episode.take(item)
      if episode.published != known[place].published {
        episode.modified = naming.freeTime(from: episode.published)
      }
      writes.append(episode)
    }
    writes.sort { $0.id < $1.id }
    let new = zip(items, matches).filter { $0.1 == .new }.map(\.0)
    if new.isEmpty { return }
    writes.reserveCapacity(writes.count + new.count)
    let byKey = Dictionary(grouping: known.indices) { known[$0].mediaKey }
    let byAddress = Dictionary(grouping: known.indices) { known[$0].enclosureURL }
    let isNewestFirst = naming.isNewestFirst(items.map(\.parsed)) { matches[$0].place != nil }
    for name in naming.name(new.map(\.parsed), isNewestFirst: isNewestFirst) {
      let item = new[name.place]
      let address = item.enclosure.url
      var episode = EpisodeRecord()
      (episode.podcastID, episode.published) = (podcast, now)
      episode.take(item)
      (episode.stem, episode.modified) = (name.stem, name.modified)
      (episode.fileExtension, episode.mediaKey) = (item.parsed.fileExtension, MediaKey(address: address))
      // An episode at the same address in the same document is the same audio; one that was there earlier is another. A feed
      // of one item, at "latest.mp3", may have had earlier ones there, which only a lost catalogue knew.
      let rivals = (byKey[episode.mediaKey] ?? []) + (byAddress[address] ?? [])
      let mayRoll = items.count == 1 && episode.isDated && !StableAddress.numbersItsFile(address)
      if mayRoll || rivals.contains(where: { shown[$0] != address }) {
        episode.takeOwnKey()
      }
      replaced += (byAddress[address] ?? []).filter { shown[$0] == nil }.map { known[$0].id }
      writes.append(episode)
    }
    replaced = Array(Set(replaced)).sorted()
  }

  /// Removes what one transaction may write, some tens of milliseconds' worth, and returns it. A known episode costs more: the
  /// full-text index has to lose its old words.
  mutating func removePiece() -> MergePlan {
    var part = self
    var (room, bytes) = (1000, 2 << 20)
    part.writes = writes.prefix { episode in
      defer { (room, bytes) = (room - (episode.id == 0 ? 1 : 10), bytes - episode.notesLength) }
      return room > 0 && bytes > 0
    }
    writes = writes.dropFirst(part.writes.count)
    replaced = []
    return part
  }
}

/// Puts a page of a feed into the catalogue: all is decided before a transaction begins, and what is much is written in
/// pieces, so that no verb waits long. Where another process changes the podcast meanwhile, it is decided anew.
struct FeedMerge: Sendable {
  let store: CatalogStore
  let podcast: Int64
  let now: Int64
  /// Episodes are to be heard in order (`itunes:type`): see `EpisodeNaming`.
  var isSerial = false

  /// How often another process may be at the same podcast at the same time.
  private static let tries = 20
  typealias Finish = (Database, inout [CatalogChange], Merged) throws -> Void

  struct Merged {
    var outcome = RefreshOutcome()
    var changed: [Int64] = []
    var changesListing: Bool { !changed.isEmpty || !outcome.newEpisodes.isEmpty }
    func changes(of podcast: Int64) -> [CatalogChange] {
      if changed.count > Self.singleLimit { return [.podcast(podcast)] }
      var changes = changed.map(CatalogChange.episode)
      if let first = outcome.newEpisodes.first, let last = outcome.newEpisodes.last {
        changes.append(.newEpisodes(podcast: podcast, first: first, last: last))
      }
      return changes
    }

    private static let singleLimit = 64
  }

  /// - Parameter finish: runs in the transaction that ends the merge, also where nothing has changed.
  @discardableResult
  func merge(_ incoming: [IncomingEpisode], finish: Finish) throws -> RefreshOutcome {
    var merged = Merged()
    for _ in 0..<Self.tries {
      let (known, revision) = try store.read { database in
        (
          try EpisodeRows.all(ofPodcast: podcast, in: database) as [EpisodeRecord],
          try existing("podcast", EpisodeNumbers(podcast: podcast, in: database)).revision
        )
      }
      let plan = MergePlan(incoming, known: known, podcast: podcast, isSerial: isSerial, now: now)
      if try write(plan, revision, &merged, finish) { return merged.outcome }
    }
    throw CatalogError(.EBUSY, "another process keeps changing this podcast")
  }

  /// - Returns: false where the podcast has changed meanwhile: what was written counts, the rest is to be decided anew.
  private func write(
    _ plan: MergePlan, _ first: Int64, _ merged: inout Merged, _ finish: Finish
  ) throws -> Bool {
    var (revision, rest) = (first, plan)
    repeat {
      let part = rest.removePiece()
      // What comes last brings all before it to the disk, too.
      let isLast = rest.writes.isEmpty
      let written = try store.change(.refresh, waitsForDisk: isLast) {
        [revision, before = merged] database, changes -> Merged? in
        let numbers = try existing("podcast", EpisodeNumbers(podcast: podcast, in: database))
        guard numbers.revision == revision else { return nil }
        var merged = before
        let written = try write(part, numbers, &merged, in: database)
        let told = try AwaitedReport.apply(toPodcast: podcast, written: written, now: now, in: database)
        if told.contains(.queue) { changes.append(.queue) }
        if isLast { try finish(database, &changes, merged) }
        return merged
      }
      guard let written else { return false }
      merged = written
      if !part.writes.isEmpty || !part.replaced.isEmpty { revision += 1 }
    } while !rest.writes.isEmpty
    return true
  }

  private func write(
    _ plan: MergePlan, _ numbers: EpisodeNumbers, _ merged: inout Merged, in database: Database
  ) throws -> [Int64] {
    if plan.writes.isEmpty && plan.replaced.isEmpty { return [] }
    for id in plan.replaced { try database.run("UPDATE episode SET is_replaced = 1 WHERE id = ?", id) }
    let first = EpisodeID.first(ofPodcast: podcast)
    let changed = plan.writes.prefix { $0.id > 0 }.map(\.id)
    // What comes when a podcast's numbers are used up is left out.
    var episodes = Array(plan.writes.prefix(changed.count + Int(EpisodeID.last + 1 - numbers.next)))
    let new = (numbers.next..<(numbers.next + Int64(episodes.count - changed.count))).map { first + $0 }
    for (place, id) in zip(changed.count..., new) { episodes[place].id = id }
    for id in changed { try PersonRows.remove(id, in: database) }
    merged.outcome.newEpisodes += new
    merged.changed += changed
    let indexed = episodes.filter { $0.id <= first + numbers.indexed }
    let texts = indexed.map { EpisodeText(id: $0.id, title: $0.title, notes: $0.notes) }
    let others = zip(try FullText.texts(indexed.map(\.id), in: database), texts).filter { $0 != $1 }
    try FullText.episodes(others.map(\.0.indexed), removing: true, in: database)
    try database.save(episodes, into: "episode", as: "e")
    try PersonRows.add(episodes, in: database)
    // Afterwards, so that a listing finds the rows in pages that follow each other.
    for id in changed { try database.run("DELETE FROM notes WHERE episode_id = ?", id) }
    let noted = episodes.indices.filter { episodes[$0].notes != nil || episodes[$0].chapters != nil }
    try database.run(
      Database.insertion(into: "notes", ["episode_id", "text", "chapters"]), rows: noted.count
    ) { place, row in
      row.add(episodes[noted[place]].id)
      row.add(episodes[noted[place]].notes)
      row.add(episodes[noted[place]].chapters)
    }
    try FullText.episodes(others.map(\.1.indexed), in: database)
    try EpisodeNumbers.added(new.count, to: podcast, in: database)
    return changed + new
  }
}
