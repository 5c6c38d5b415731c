/// Whether what a feed says is dated by the clock that dated it before.
///
/// Where many share a title, a time to the second tells which is which only then: ten hours later this evening's edition
/// has the time that yesterday's morning one, or the next one, had. The clock is the same where nearly all that both can
/// have are of the same time, and by no other clock as many would be.
enum KeptClock {
  /// Whether it makes a difference between these two.
  static func isAsked(_ item: Candidate, _ known: Candidate) -> Bool {
    item.traits.published != nil && item.traits.published == known.traits.published
      && item.title == known.title
  }

  /// - Parameters: all items of the document, and all episodes, with what has been decided for each item.
  static func isKept(_ items: [Candidate], _ known: [Candidate], places: [Int?]) -> Bool {
    var (same, sure) = (0, 0)
    var isOpen = Array(repeating: true, count: known.count)
    var openItems: [Candidate] = []
    let named = (items: Named(items), known: Named(known))
    for (index, item) in items.enumerated() {
      guard let place = places[index] ?? named.known.place(of: item, at: index, of: named.items) else {
        openItems.append(item)
        continue
      }
      isOpen[place] = false
      guard let time = item.traits.published, let other = known[place].traits.published else { continue }
      sure += 1
      if time == other { same += 1 }
    }
    let openKnown = known.indices.filter { isOpen[$0] }.map { known[$0] }
    let (one, other) = (TitledTimes(openItems), TitledTimes(openKnown))
    guard var counts = one.offsets(from: other) else { return false }
    same += counts.removeValue(forKey: 0) ?? 0
    let needed = sure + min(one.count(within: other), other.count(within: one))
    return same * 5 >= needed * 4 && same > (counts.values.max() ?? 0)
  }

  /// What a guid or an address names alone, by its place.
  private struct Named {
    private let ofGuid: [String: Int]
    private let ofAddress: [String: Int]

    init(_ all: [Candidate]) {
      ofGuid = Self.places(all.map(\.traits.guid))
      ofAddress = Self.places(all.map { $0.address.isLatest ? nil : $0.address.unsigned })
    }

    private static func places(_ names: [String?]) -> [String: Int] {
      Dictionary(grouping: names.indices) { names[$0] ?? "" }.compactMapValues { $0.count == 1 ? $0[0] : nil }
    }

    /// Where the one is that has the name of this one, which is at `index` among `items`.
    func place(of item: Candidate, at index: Int, of items: Named) -> Int? {
      if let guid = item.traits.guid, items.ofGuid[guid] == index, let place = ofGuid[guid] { return place }
      let address = item.address.unsigned
      return items.ofAddress[address] == index ? ofAddress[address] : nil
    }
  }
}

/// Those that have a title and a time, by both.
private struct TitledTimes {
  private let byTitle: [String: [Candidate]]
  private static let nearness = Double(Comparison.nearness)
  /// More than these about one time are not told apart.
  private static let mostAround = 64

  init(_ all: [Candidate]) {
    byTitle = Dictionary(grouping: all.filter { $0.traits.published != nil }) { $0.title ?? "" }
      .mapValues { $0.sorted { Self.time($0) < Self.time($1) } }
  }

  private static func time(_ one: Candidate) -> Double { Double(one.traits.published ?? 0) }

  /// How many are later than one of the others of the same title by how many seconds; nil where they are too many.
  func offsets(from others: TitledTimes) -> [Double: Int]? {
    var counts: [Double: Int] = [:]
    for (title, all) in byTitle {
      guard let near = others.byTitle[title] else { continue }
      var first = 0
      for one in all {
        let time = Self.time(one)
        while first < near.count, Self.time(near[first]) < time - Self.nearness { first += 1 }
        let around = near[first...].prefix { Self.time($0) <= time + Self.nearness }
        guard around.count <= Self.mostAround else { return nil }
        for offset in Set(around.filter { Self.isAsLong(one, $0) }.map { time - Self.time($0) }) {
          counts[offset, default: 0] += 1
        }
      }
    }
    return counts
  }

  private static func isAsLong(_ one: Candidate, _ other: Candidate) -> Bool {
    guard let duration = one.traits.duration, let known = other.traits.duration else { return true }
    return Comparison.isSame(duration: duration, known)
  }

  /// How many are of a title that others have too, at a time at which there are others.
  func count(within others: TitledTimes) -> Int {
    let times = others.byTitle.values.flatMap { [$0.first, $0.last] }.compactMap { $0.map(Self.time) }
    guard let first = times.min(), let last = times.max() else { return 0 }
    return byTitle.reduce(0) { count, titled in
      guard others.byTitle[titled.key] != nil else { return count }
      return count
        + titled.value.count {
          Self.time($0) >= first - Self.nearness && Self.time($0) <= last + Self.nearness
        }
    }
  }
}
