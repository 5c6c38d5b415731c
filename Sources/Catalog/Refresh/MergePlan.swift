internal import FeedKit
internal import Identity
internal import PodcastModel
internal import PosixKit

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
    /// Whether another episode of the podcast may have it, that was first seen at the address and is at another by now.
    var mayHaveBeenGiven: Bool
  }

  /// In the order of their numbers: the full-text index writes all that it has gathered whenever it is told of an
  /// episode before the last one.
  var updates: ArraySlice<Update> = []
  /// In the order of publication, so that names don't depend on the order of the feed.
  var additions: ArraySlice<Addition> = []
  /// Episodes whose address is a new one's by now: what is there is not theirs.
  var replaced: [Int64] = []
  /// How many items are known.
  private(set) var knownCount = 0
  /// Whether what was published before this page may be new too: there is something new, and the page does not show what
  /// was known as it was known (`showsNewest`), or its last item is new, or its oldest.
  private(set) var reachesBack = false
  /// Whether most of what is known has another address than before, apart from signatures: so may what is not on
  /// this page.
  private(set) var isReaddressed = false

  /// - Parameter isSerial: whether the feed is a serial (`itunes:type`): names then begin with season and episode.
  init(_ items: [IncomingEpisode], known: KnownEpisodes, isSerial: Bool, now: Int64) {
    let decisions = EpisodeMatcher.match(items.map(\.traits), known: known.all.map(\.traits))
    var ofPlace: [Int: IncomingEpisode] = [:]
    var new: [IncomingEpisode] = []
    for (item, decision) in zip(items, decisions) {
      guard let place = decision.place else {
        if decision == .new { new.append(item) }
        continue
      }
      knownCount += 1
      ofPlace[place] = item
      let one = known.all[place]
      if one.traits.fingerprint != item.traits.fingerprint || one.isReplaced {
        updates.append(Update(known: one, item: item, modified: one.modified))
      }
    }
    updates.sort { $0.known.id < $1.known.id }
    let readdressed = updates.count {
      StableAddress.text($0.known.traits.address) != StableAddress.text($0.item.enclosure.url)
    }
    isReaddressed = readdressed * 2 > knownCount
    let isRedated = updates.contains { $0.isRedated }
    if new.isEmpty && !isRedated { return }
    var naming = EpisodeNaming(isSerial: isSerial, now: now)
    for one in known.all {
      naming.add(
        stem: one.stem, published: one.published, isDated: one.traits.published != nil, modified: one.modified
      )
    }
    for place in updates.indices where updates[place].isRedated {
      if let published = updates[place].item.published {
        updates[place].modified = naming.freeTime(from: published)
      }
    }
    if new.isEmpty { return }
    let oldest = items.indices.min { (items[$0].published ?? now) < (items[$1].published ?? now) }
    reachesBack =
      !Self.showsNewest(of: known.all.map(\.traits.published)) { ofPlace[$0] != nil }
      || decisions.last == .new || oldest.map { decisions[$0] } == .new
    let isNewestFirst = EpisodeNaming.isNewestFirst(items.map { $0.parsed.namedItem(now: now) }) {
      decisions[$0].place != nil
    }
    let names = naming.name(new.map { $0.parsed.namedItem(now: now) }, isNewestFirst: isNewestFirst)
    add(new, known, ofPlace, names, now: now)
  }

  /// Whether a page has the newest episode that was known, and enough of those next to it. One or two that are known say
  /// nothing: they may be pinned to the page, also the newest.
  private static func showsNewest(of times: [Int64?], isShown: (Int) -> Bool) -> Bool {
    let ordered = times.compactMap(\.self).sorted(by: >)
    let limit = ordered.prefix(newest).last
    let near = times.indices.filter { limit == nil || times[$0].map { $0 >= limit ?? $0 } ?? false }
    let shown = near.filter(isShown)
    let hasNewest = ordered.isEmpty || shown.contains { times[$0] == ordered.first }
    return hasNewest && shown.count >= min(mostPinned + 1, near.count)
  }

  /// Of so many of the newest episodes more must be there than are pinned to a page; some may have been withdrawn.
  private static let newest = 5
  private static let mostPinned = 2

  private mutating func add(
    _ new: [IncomingEpisode], _ known: KnownEpisodes, _ ofPlace: [Int: IncomingEpisode],
    _ names: [EpisodeNaming.Name], now: Int64
  ) {
    var owners: [WebAddress: [Int]] = [:]
    for (place, one) in known.all.enumerated() { owners[one.traits.address, default: []].append(place) }
    for name in names {
      let item = new[name.place]
      // Who has the same address in the same document is the same audio; who had it earlier is another's.
      let address = item.enclosure.url
      let former = (owners[address] ?? []).filter { ofPlace[$0]?.enclosure.url != address }
      let isReused = !former.isEmpty
      replaced += former.filter { ofPlace[$0] == nil }.map { known.all[$0].id }
      additions.append(
        Addition(
          item: item,
          stem: name.stem, modified: name.modified,
          mediaKey: isReused ? Self.key(item, now: now) : MediaKey(address: address),
          mayHaveBeenGiven: !isReused && !known.all.isEmpty))
    }
    replaced = Array(Set(replaced)).sorted()
  }

  /// For an address that was another episode's: the cache must not take one for the other.
  static func key(_ item: IncomingEpisode, now: Int64) -> MediaKey {
    // Its guid may have been that one's too.
    let mark = "\(item.guid ?? "") \(item.published ?? now) \(item.title)"
    return MediaKey(address: WebAddress("\(mark) \(item.enclosure.url.forRequest)"))
  }
}
