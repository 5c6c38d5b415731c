/// Finds which item of a feed is which episode that is known (ARCHITECTURE.md, Quirks): by the guid first,
/// never by the title or the address alone while there is something better.
enum EpisodeMatching {
  /// What tells episodes apart.
  struct Traits: Sendable {
    /// The guid, else made from the address.
    var identity: String
    /// The enclosure's address without what changes from one answer to the next.
    var address: String
    var title: String
    /// Days since 1970, where the feed has a date.
    var day: Int64?
    /// In seconds.
    var duration: Int?
  }

  /// - Returns: for each item the place of its episode in `known`; nil for a new one. No episode is given to
  ///   two items: of items with the same guid each is an episode of its own.
  static func match(_ items: [Traits], with known: [Traits]) -> [Int?] {
    var matching = Matching(items: items, known: known)
    // As they were.
    matching.pair { "\($0.identity)\n\($0.address)\n\($0.title)\n\($0.day ?? -1)" }
    // Corrected title or date; corrected address. Items that share a guid are told apart by the rest.
    matching.pair { "\($0.identity)\n\($0.address)" }
    matching.pair { trait in trait.day.map { "\(trait.identity)\n\(trait.title)\n\($0)" } }
    matching.pairUnique(amongAll: true) { $0.identity }
    // Another guid for the same.
    matching.pairUnique(amongAll: false) { $0.address }
    matching.pairUnique(amongAll: false) { trait in
      guard let day = trait.day, !trait.title.isEmpty else { return nil }
      return "\(trait.title)\n\(day)\n\(trait.duration ?? -1)"
    }
    return matching.result
  }

  private struct Matching {
    let items: [Traits]
    let known: [Traits]
    var result: [Int?]
    var isTaken: [Bool]

    init(items: [Traits], known: [Traits]) {
      self.items = items
      self.known = known
      result = Array(repeating: nil, count: items.count)
      isTaken = Array(repeating: false, count: known.count)
    }

    private var openItems: [Int] { items.indices.filter { result[$0] == nil } }
    private var openKnown: [Int] { known.indices.filter { !isTaken[$0] } }

    /// Pairs what has the same key, in order.
    mutating func pair(_ key: (Traits) -> String?) {
      let open = openItems
      if open.isEmpty { return }
      var places: [String: [Int]] = [:]
      for place in openKnown.reversed() {
        if let key = key(known[place]) { places[key, default: []].append(place) }
      }
      for item in open {
        guard let key = key(items[item]), let place = places[key]?.popLast() else { continue }
        take(item, place)
      }
    }

    /// Pairs what has the same key where no other has.
    /// - Parameter amongAll: whether what is paired already counts among the others.
    mutating func pairUnique(amongAll: Bool, _ key: (Traits) -> String?) {
      let open = openItems
      if open.isEmpty { return }
      var places: [String: [Int]] = [:]
      for place in amongAll ? Array(known.indices) : openKnown {
        if let key = key(known[place]) { places[key, default: []].append(place) }
      }
      var counts: [String: Int] = [:]
      for item in amongAll ? Array(items.indices) : open {
        if let key = key(items[item]) { counts[key, default: 0] += 1 }
      }
      for item in open {
        guard let key = key(items[item]), counts[key] == 1, let found = places[key], found.count == 1,
          !isTaken[found[0]]
        else { continue }
        take(item, found[0])
      }
    }

    private mutating func take(_ item: Int, _ place: Int) {
      result[item] = place
      isTaken[place] = true
    }
  }
}
