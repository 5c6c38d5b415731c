package import PodcastModel

/// Decides which known episode each item of a feed is (Documentation/Catalogue.md, "How episodes are recognized").
///
/// Each rule pairs an item with an episode only where each is the other's one candidate, and sees only what the rules
/// before it have left. What no rule pairs is new: an episode shown twice does less harm than one that hides another.
package enum EpisodeMatcher {
  package enum Match: Hashable, Sendable {
    case new
    /// An earlier item of the document has the same guid and address.
    case duplicate
    /// The episode at this place among the known ones.
    case known(Int, Rule)

    package var place: Int? {
      if case .known(let place, _) = self { return place }
      return nil
    }
  }

  /// In the order in which they apply.
  package enum Rule: String, Sendable, CaseIterable {
    /// Nothing that the other rules compare has changed.
    case unchanged
    case guid, address
    /// The title, within 14 hours.
    case title
    /// Nothing of the feed is as it was, nor the host: the title alone.
    case moved
  }

  /// - Returns: one match for each item; no two items are the same episode.
  package static func match(_ items: [ItemTraits], known: [ItemTraits]) -> [Match] {
    var matching = Matching(items, known)
    matching.dropDuplicates()
    matching.pairUnchanged()
    if matching.isDone { return matching.matches }
    // A feed that shows one item at a time may show each edition under one guid, address and title.
    let newest = known.lazy.compactMap(\.published).max()
    let isSlot = { @Sendable [isSingle = items.count == 1] (item: Candidate) in
      isSingle && item.isLater(than: newest)
    }
    matching.pair(.guid, by: { $0.guid }) { item, known in
      item.address == known.address ? !isSlot(item) || item.isNear(known) : !item.contradicts(known)
    }
    matching.pair(.address, by: { $0.address }) { !$0.contradicts($1) && !isSlot($0) }
    let hasMoved = matching.hasNothingKept && matching.isOneSideImported && !matching.isOnKnownHost
    matching.pair(.title, by: { $0.titleAndTime }) { _, _ in true }
    let isNear = { @Sendable (item: Candidate, known: Candidate) in item.isNear(known) && !isSlot(item) }
    matching.pair(.title, by: { $0.title }) { isNear($0, $1) && $0.host != $1.host }
    matching.pair(.title, by: { $0.title }, isUnique: true, where: isNear)
    if hasMoved { matching.pair(.moved, by: { $0.title }) { _, _ in true } }
    return matching.matches
  }
}

private struct Candidate: Sendable {
  let guid: String?
  let address: String
  let host: Substring
  /// Letters and digits; nil where there are none.
  let title: String?
  let published: Int64?

  /// Seconds: the farthest that a wrong time zone moves a time.
  private static let nearness: UInt64 = 14 * 3600

  init(_ traits: ItemTraits) {
    guid = traits.guid
    address = StableAddress.text(traits.address)
    host = address.prefix { $0 != "/" }
    let letters = TitleText.plain(traits.title).lowercased().filter { $0.isLetter || $0.isNumber }
    title = letters.isEmpty ? nil : letters
    published = traits.published
  }

  var titleAndTime: String? {
    guard let title, let published else { return nil }
    return "\(title) \(published)"
  }

  /// Whether title and day are both others, as far as both have them.
  func contradicts(_ other: Candidate) -> Bool {
    guard let title, let otherTitle = other.title, published != nil, other.published != nil else {
      return false
    }
    return title != otherTitle && !isNear(other)
  }

  func isNear(_ other: Candidate) -> Bool {
    guard let published, let time = other.published else { return false }
    return published.distance(to: time).magnitude <= Self.nearness
  }

  func isLater(than time: Int64?) -> Bool {
    guard let published, let time else { return false }
    return published > time
  }
}

private struct Matching {
  private let items: [ItemTraits]
  private let known: [ItemTraits]
  private(set) var matches: [EpisodeMatcher.Match]
  private var isTaken: [Bool]
  /// Made when the first rule needs them.
  private lazy var candidates = (items: items.map(Candidate.init), known: known.map(Candidate.init))

  /// Pairs that are compared under one key; where there are more, the key tells nothing.
  private static let mostPairs = 1 << 20
  private static let day: UInt64 = 86_400

  init(_ items: [ItemTraits], _ known: [ItemTraits]) {
    (self.items, self.known) = (items, known)
    matches = Array(repeating: .new, count: items.count)
    isTaken = Array(repeating: false, count: known.count)
  }

  var isDone: Bool { !matches.contains(.new) || !isTaken.contains(false) }
  var hasNothingKept: Bool { !isTaken.contains(true) }

  /// The dates of one side tell nothing: it has none, or all of them lie within a day, and those of the other side do not.
  var isOneSideImported: Bool {
    let sides = [items, known].map { $0.compactMap(\.published) }
    if sides.contains(where: \.isEmpty) { return true }
    return isWithinADay(sides[0]) != isWithinADay(sides[1])
  }

  private func isWithinADay(_ times: [Int64]) -> Bool {
    guard times.count > 1, let first = times.min(), let last = times.max() else { return false }
    return first.distance(to: last).magnitude <= Self.day
  }

  /// Bulletins of another day have the titles of those before: they come from the same host.
  var isOnKnownHost: Bool {
    mutating get { !Set(candidates.known.map(\.host)).isDisjoint(with: candidates.items.map(\.host)) }
  }

  mutating func dropDuplicates() {
    // Without a guid the address names the episode, as long as the title agrees.
    let names = Dictionary(grouping: items.indices) { items[$0].guid ?? items[$0].title }
    for places in names.values where places.count > 1 {
      var seen: Set<[String]> = []
      for place in places {
        let hasGuid = items[place].guid != nil
        let address = StableAddress.text(items[place].address, isWhole: !hasGuid)
        if !seen.insert([hasGuid ? "guid" : "title", address]).inserted { matches[place] = .duplicate }
      }
    }
  }

  /// Pairs items that are as they were. The fingerprint tells which was which of episodes that are equal in all else.
  mutating func pairUnchanged() {
    for traits in [{ $0 }, \.withoutFingerprint] as [(ItemTraits) -> ItemTraits] where !isDone {
      var places: [ItemTraits: [Int]] = [:]
      for place in known.indices.reversed() where !isTaken[place] {
        places[traits(known[place]), default: []].append(place)
      }
      for item in items.indices where matches[item] == .new {
        if let place = places[traits(items[item])]?.popLast() { take(item, place, .unchanged) }
      }
    }
  }

  /// Pairs items and episodes that have the same key and pass a test, where each is the other's one candidate, paired or
  /// not.
  /// - Parameter isUnique: only where no other item and no other episode has the key.
  mutating func pair(
    _ rule: EpisodeMatcher.Rule, by key: (Candidate) -> String?, isUnique: Bool = false,
    where test: (Candidate, Candidate) -> Bool
  ) {
    if isDone { return }
    let (items, known) = candidates
    let shown = items.indices.filter { matches[$0] != .duplicate }
    let ofItems = Dictionary(grouping: shown) { key(items[$0]) }
    let ofKnown = Dictionary(grouping: known.indices) { key(known[$0]) }
    var pairs: [(item: Int, place: Int)] = []
    for item in shown where matches[item] == .new {
      guard let key = key(items[item]), let places = ofKnown[key], let rivals = ofItems[key],
        places.count * rivals.count <= (isUnique ? 1 : Self.mostPairs)
      else { continue }
      let found = places.filter { test(items[item], known[$0]) }
      guard found.count == 1, let place = found.first, !isTaken[place],
        !rivals.contains(where: { $0 != item && test(items[$0], known[place]) })
      else { continue }
      pairs.append((item, place))
    }
    for pair in pairs { take(pair.item, pair.place, rule) }
  }

  private mutating func take(_ item: Int, _ place: Int, _ rule: EpisodeMatcher.Rule) {
    matches[item] = .known(place, rule)
    isTaken[place] = true
  }
}

/// What tells an episode from others, as a feed says it: the same for an item that comes in and for a known episode. What
/// a feed does not say is nil or empty.
package struct ItemTraits: Hashable, Sendable {
  package var guid: String?
  package var address: WebAddress
  package var title: String
  /// Seconds since 1970, as the feed says.
  package var published: Int64?
  /// A sum of all that the feed says of it: duration, length and notes, too.
  package var fingerprint: Int64 = 0

  package init(address: WebAddress, title: String) {
    (self.address, self.title) = (address, title)
  }
}

extension ItemTraits {
  var withoutFingerprint: ItemTraits {
    var traits = self
    traits.fingerprint = 0
    return traits
  }
}
