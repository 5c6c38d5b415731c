internal import PodcastModel

/// Decides which item of a feed is which episode that is known, by evidence (see `Evidence`): nothing by one weak
/// trait alone, nothing by order among equals, nothing against what speaks for another.
///
/// An item that is taken for new although it is not shows an episode twice; one that is taken for another episode
/// hides it, and may show another's audio under its name. So what is not sure is new.
package enum IdentityEngine {
  package enum Decision: Hashable, Sendable {
    case new
    /// The episode's place among those known.
    case known(Int, Evidence)

    package var place: Int? {
      if case .known(let place, _) = self { return place }
      return nil
    }
  }

  /// One decision for each item; no episode is given to two. Costs about as much as there are items and episodes,
  /// and little where nothing has changed.
  package static func decide(_ items: [ItemTraits], known: [ItemTraits]) -> [Decision] {
    if known.isEmpty { return Array(repeating: .new, count: items.count) }
    var pairing = Pairing(items: items, known: known)
    pairing.pairUnchanged()
    pairing.pairRenewedSessions()
    if !pairing.isDone { pairing.pairByEvidence() }
    return pairing.decisions
  }
}

private struct Pairing {
  private let items: [ItemTraits]
  private let known: [ItemTraits]
  private(set) var decisions: [IdentityEngine.Decision]
  private var isTaken: [Bool]

  /// More pairs than these under one trait are left to traits that fewer share.
  private static let pairLimit = 64

  init(items: [ItemTraits], known: [ItemTraits]) {
    self.items = items
    self.known = known
    decisions = Array(repeating: .new, count: items.count)
    isTaken = Array(repeating: false, count: known.count)
  }

  var isDone: Bool { known.isEmpty || !decisions.contains(.new) || !isTaken.contains(false) }

  /// Items that are equal in all traits cannot be told apart by anybody: as many of them as there were stay. Those that are
  /// as they were in what else is said of them, too, stay what they were.
  mutating func pairUnchanged() {
    pairEqual { $0 }
    if !isDone { pairEqual(\.withoutFingerprint) }
  }

  private mutating func pairEqual(_ traits: (ItemTraits) -> ItemTraits) {
    var places: [ItemTraits: [Int]] = [:]
    for place in known.indices.reversed() where !isTaken[place] {
      places[traits(known[place]), default: []].append(place)
    }
    var evidence = Evidence()
    evidence.add(.unchanged)
    for item in items.indices where decisions[item] == .new {
      if let place = places[traits(items[item])]?.popLast() { take(item, place, evidence) }
    }
  }

  /// Items without guid and date that say the same as before but for what may be a session in their addresses: nobody can
  /// tell them from what was there, and each refresh would double them. Where they are more than before, something is new,
  /// and none is told.
  mutating func pairRenewedSessions() {
    func groups(_ all: [ItemTraits], where isOpen: (Int) -> Bool) -> [ItemTraits: [Int]] {
      var groups: [ItemTraits: [Int]] = [:]
      for (index, one) in all.enumerated() where isOpen(index) && one.guid == nil && one.published == nil {
        var same = one.withoutFingerprint
        same.address = WebAddress(AddressForms(one.address).bare)
        groups[same, default: []].append(index)
      }
      // Whatever the order of the document.
      return groups.mapValues { $0.sorted { all[$0].address.forRequest < all[$1].address.forRequest } }
    }
    let new = groups(items) { decisions[$0] == .new }
    if new.isEmpty { return }
    let old = groups(known) { !isTaken[$0] }
    var evidence = Evidence()
    evidence.add(.unchangedButForSession)
    for (same, items) in new {
      guard let places = old[same], items.count <= places.count else { continue }
      for (item, place) in zip(items, places) { take(item, place, evidence) }
    }
  }

  mutating func pairByEvidence() {
    let openItems = items.indices.filter { decisions[$0] == .new }
    let openKnown = known.indices.filter { !isTaken[$0] }
    let (all, allKnown) = (items.map(Candidate.init), known.map(Candidate.init))
    var relevant: Set<TraitKey> = []
    for item in openItems { relevant.formUnion(all[item].keys) }
    let moved = hasNothingKept(all, allKnown) ? Self.moved(all, allKnown) : []
    let pairs = candidates(openItems.map { ($0, all[$0]) }, openKnown.map { ($0, allKnown[$0]) }).union(moved)
    let isClockAsked = pairs.contains { KeptClock.isAsked(all[$0.item], allKnown[$0.place]) }
    let isRivalAsked = pairs.contains {
      let (item, known) = (all[$0.item], allKnown[$0.place])
      return item.traits.guid != nil && item.traits.guid == known.traits.guid
        && item.address.unsigned != known.address.unsigned
    }
    let comparison = Comparison(
      rarity: Rarity(items: all, known: allKnown, relevant: relevant), areGuidsKept: areGuidsKept,
      document: DocumentState(items: all, known: allKnown, hasUnchanged: decisions.contains { $0 != .new }),
      rivals: isRivalAsked
        ? Rivals(items: openItems.map { all[$0] }, known: openKnown.map { allKnown[$0] }) : Rivals(),
      season: isRivalAsked
        ? NextSeason(items: openItems.map { all[$0] }, known: openKnown.map { allKnown[$0] }) : NextSeason(),
      isClockKept: isClockAsked && KeptClock.isKept(all, allKnown, places: decisions.map(\.place)))
    var rated: [Rated] = []
    for pair in pairs {
      let evidence = comparison.evidence(
        all[pair.item], allKnown[pair.place], hasMoved: moved.contains(pair))
      if evidence.score >= Evidence.enough - Evidence.margin {
        rated.append(Rated(item: pair.item, place: pair.place, evidence: evidence))
      }
    }
    choose(rated)
  }

  /// All that has gone elsewhere at once, on its host or to another one. What has come to that host before has not come from
  /// another one now.
  private static func moved(_ items: [Candidate], _ known: [Candidate]) -> Set<Pair> {
    func key(_ one: Candidate) -> String {
      "\(one.address.host) \(one.traits.published ?? 0) \(one.title ?? "")"
    }
    let there = Set(known.lazy.map(key))
    return RenewedPage(items, known).pairs.union(
      WholeMove(items, known).pairs.filter { !there.contains(key(items[$0.item])) })
  }

  private var areGuidsKept: Bool {
    let guids = Set(known.compactMap(\.guid))
    return items.contains { $0.guid.map(guids.contains) ?? false }
  }

  /// No guid and no address is one that was known: it may be that all of the feed is elsewhere.
  private func hasNothingKept(_ items: [Candidate], _ known: [Candidate]) -> Bool {
    if areGuidsKept || decisions.contains(where: { $0 != .new }) { return false }
    return Set(items.map(\.address.unsigned)).isDisjoint(with: known.map(\.address.unsigned))
  }

  private typealias Pair = WholeMove.Pair

  private struct Rated {
    var item: Int
    var place: Int
    var evidence: Evidence
    var score: Int { evidence.score }
  }

  /// Those that have any trait in common that few others have.
  private func candidates(_ items: [(Int, Candidate)], _ known: [(Int, Candidate)]) -> Set<Pair> {
    var pairs: Set<Pair> = []
    for isJoined in [false, true] {
      var places: [TraitKey: [Int]] = [:]
      for (place, one) in known {
        for key in isJoined ? one.joinedKeys : one.keys { places[key, default: []].append(place) }
      }
      var wanting: [TraitKey: [Int]] = [:]
      for (index, item) in items {
        for key in isJoined ? item.joinedKeys : item.keys where places[key] != nil {
          wanting[key, default: []].append(index)
        }
      }
      for (key, found) in wanting {
        guard let places = places[key], found.count * places.count <= Self.pairLimit else { continue }
        for item in found { for place in places { pairs.insert(Pair(item: item, place: place)) } }
      }
    }
    return pairs
  }

  /// The best first. Where another candidate is nearly as good, for the item or for the episode, it is none of
  /// them.
  private mutating func choose(_ rated: [Rated]) {
    var ofItem: [Int: [Rated]] = [:]
    var ofPlace: [Int: [Rated]] = [:]
    for one in rated {
      ofItem[one.item, default: []].append(one)
      ofPlace[one.place, default: []].append(one)
    }
    var isDoubtful: Set<Int> = []
    let ordered = rated.sorted { ($1.score, $0.item, $0.place) < ($0.score, $1.item, $1.place) }
    for one in ordered where one.score >= Evidence.enough {
      if decisions[one.item] != .new || isTaken[one.place] || isDoubtful.contains(one.item) { continue }
      let rivals = (ofItem[one.item] ?? []) + (ofPlace[one.place] ?? [])
      let isContested = rivals.contains { rival in
        (rival.item != one.item || rival.place != one.place) && decisions[rival.item] == .new
          && !isTaken[rival.place] && rival.score > one.score - Evidence.margin
      }
      if isContested {
        // Weaker evidence for another episode does not make it that one.
        isDoubtful.insert(one.item)
      } else {
        take(one.item, one.place, one.evidence)
      }
    }
  }

  private mutating func take(_ item: Int, _ place: Int, _ evidence: Evidence) {
    decisions[item] = .known(place, evidence)
    isTaken[place] = true
  }
}
