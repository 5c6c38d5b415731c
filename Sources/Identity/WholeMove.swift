/// A show that is on another host with all of its episodes, each with another guid, another address and perhaps
/// another date. What tells hardly anything of one item tells much where it is true of all.
///
/// An item and an episode are the same where each is the only one of its title that is near the other's time, and all
/// are behind or before by the same; where several are near, if there is one time by which all are behind, and no second
/// one that nearly all may be (where they are behind by nothing, none that as many may be); or, where the new (or the old)
/// host says no dates but that of an import, by a title that nobody else has. At least three must be, and four fifths of all
/// that both feeds can have.
struct WholeMove {
  /// An item's place and an episode's.
  struct Pair: Hashable {
    var item: Int
    var place: Int
  }

  private(set) var pairs: Set<Pair> = []

  private static let fewest = 3
  private static let day = 86_400.0
  /// Seconds between the ways in which times are behind: summer time, and what rounds to minutes.
  private static let tolerance = 3600.0 + 60

  /// - Parameters: all items and all episodes of a feed of which nothing is as it was: no guid, no address.
  init(_ items: [Candidate], _ known: [Candidate]) {
    for titles in [TitleAffix.withoutCommon, TitleAffix.withoutOwn] where pairs.isEmpty {
      pairs = Self.pairs(items, known, titles: titles(items, known))
    }
  }

  private static func pairs(
    _ items: [Candidate], _ known: [Candidate], titles: (items: [String?], known: [String?])
  ) -> Set<Pair> {
    let both = (
      items: Feed(items, titles.items, others: known), known: Feed(known, titles.known, others: items)
    )
    let needed = min(both.items.count(within: both.known), both.known.count(within: both.items))
    let alone = [false, true].map { byDays in
      withOneOffset(items.indices.compactMap { partner(of: $0, both.items, both.known, byDays: byDays) })
    }
    var pairs: Set<Pair> = []
    for chosen in alone + [byOffset(both.items, both.known, needed: needed)]
    where chosen.count > pairs.count && isNearlyAll(chosen.count, of: needed) {
      pairs = Set(chosen.map(\.pair))
    }
    return pairs
  }

  private static func isNearlyAll(_ count: Int, of needed: Int) -> Bool {
    count >= fewest && count * 5 >= needed * 4
  }

  private struct Partner {
    var pair: Pair
    /// Seconds by which the item's time is later; nil where times tell nothing, or nothing but the day.
    var offset: Double?
  }

  /// - Parameter byDays: one of the feeds says the day alone.
  private static func partner(of item: Int, _ items: Feed, _ known: Feed, byDays: Bool) -> Partner? {
    guard let place = known.only(like: item, of: items, byDays: byDays),
      items.only(like: place, of: known, byDays: byDays) == item,
      mayBeSame(items.all[item], known.all[place])
    else { return nil }
    let pair = Pair(item: item, place: place)
    guard let time = items.times[item], let other = known.times[place] else { return Partner(pair: pair) }
    return Partner(pair: pair, offset: byDays ? nil : Double(time) - Double(other))
  }

  /// Where several of a title are near each other, as the morning's and the evening's are, all together say which is which:
  /// by what they are behind. Where they come at even intervals that can be said in more than one way, and is not.
  private static func byOffset(_ items: Feed, _ known: Feed, needed: Int) -> [Partner] {
    var near: [(pair: Pair, offset: Double)] = []
    for item in items.all.indices {
      guard let time = items.times[item], let title = items.titles[item] else { continue }
      for place in known.near(time, title, byDays: false) {
        guard isLikely(items.all[item], known.all[place]), let other = known.times[place] else {
          continue
        }
        near.append((Pair(item: item, place: place), Double(time) - Double(other)))
      }
    }
    let offsets = near.map(\.offset).sorted()
    guard let first = densest(offsets, within: tolerance)?.first else { return [] }
    func only(from first: Double, within length: Double = tolerance) -> [Partner] {
      let some = near.filter { $0.offset >= first && $0.offset <= first + length }
      let ofItem = Dictionary(grouping: some, by: \.pair.item)
      let ofPlace = Dictionary(grouping: some, by: \.pair.place)
      return some.filter { ofItem[$0.pair.item]?.count == 1 && ofPlace[$0.pair.place]?.count == 1 }
        .map { Partner(pair: $0.pair, offset: $0.offset) }
    }
    // The same clock, to the second, by which more are the same than by any other.
    let exact = only(from: 0, within: 0)
    let others = [offsets.filter { $0 < 0 }, offsets.filter { $0 > 0 }]
    if !offsets.contains(where: { $0 != 0 && abs($0) <= 2 * tolerance }),
      others.allSatisfy({ densest($0, within: tolerance)?.count ?? 0 < exact.count })
    {
      return exact
    }
    let apart = [
      offsets.filter { $0 < first - tolerance }, offsets.filter { $0 > first + 2 * tolerance },
    ]
    for second in apart.compactMap({ densest($0, within: tolerance)?.first })
    where isNearlyAll(only(from: second).count, of: needed) { return [] }
    return only(from: first)
  }

  /// Among several, a duration that is known must be the same.
  private static func isLikely(_ item: Candidate, _ known: Candidate) -> Bool {
    guard mayBeSame(item, known) else { return false }
    guard let duration = item.traits.duration, let other = known.traits.duration else { return true }
    return Comparison.isSame(duration: duration, other)
  }

  private static func mayBeSame(_ item: Candidate, _ known: Candidate) -> Bool {
    item.address.host != known.address.host && isNothingAgainst(item, known)
  }

  /// Neither number nor duration.
  static func isNothingAgainst(_ item: Candidate, _ known: Candidate) -> Bool {
    if let number = item.number, let other = known.number, number != other { return false }
    if let duration = item.traits.duration, let other = known.traits.duration {
      return !Comparison.isOther(duration: duration, other)
    }
    return true
  }

  /// Those that are behind by the same as most.
  private static func withOneOffset(_ partners: [Partner]) -> [Partner] {
    let offsets = partners.compactMap(\.offset).sorted()
    guard let first = densest(offsets, within: tolerance)?.first else { return partners }
    return partners.filter { $0.offset.map { $0 >= first && $0 <= first + tolerance } ?? true }
  }

  /// Where the most of them lie close together.
  private static func densest(_ sorted: [Double], within length: Double) -> ArraySlice<Double>? {
    var best: Range<Int>?
    var first = 0
    for last in sorted.indices {
      while sorted[last] - sorted[first] > length { first += 1 }
      if last + 1 - first > best?.count ?? 0 { best = first..<(last + 1) }
    }
    return best.map { sorted[$0] }
  }

  /// One of the two: the items of a document, or the episodes that are known.
  struct Feed {
    let all: [Candidate]
    let titles: [String?]
    /// Nil where it tells nothing: it is that of an import.
    let times: [Int64?]
    /// By title: those that have a time, by that; and all.
    private let timed: [String: [Int]]
    private let titled: [String: [Int]]

    init(_ all: [Candidate], _ titles: [String?], others: [Candidate]) {
      self.all = all
      self.titles = titles
      let published = all.map(\.traits.published)
      let imported = Self.timesOfImport(published, others: others.map(\.traits.published))
      let times = published.map { time in time.flatMap { imported?.contains(Double($0)) == true ? nil : $0 } }
      self.times = times
      var titled: [String: [Int]] = [:]
      for index in all.indices { if let title = titles[index] { titled[title, default: []].append(index) } }
      self.titled = titled
      timed = titled.mapValues { indices in
        indices.filter { times[$0] != nil }.sorted { (times[$0] ?? 0, $0) < (times[$1] ?? 0, $1) }
      }
    }

    /// A day on which nearly all came, while those of the other feed came over a long time.
    static func timesOfImport(_ own: [Int64?], others: [Int64?]) -> ClosedRange<Double>? {
      let sorted = [own, others].map { times in times.compactMap { $0.map(Double.init) }.sorted() }
      guard let most = densest(sorted[0], within: day), most.count >= fewest,
        most.count * 5 >= sorted[0].count * 4, let first = most.first, let last = most.last,
        (densest(sorted[1], within: day)?.count ?? 0) * 2 < sorted[1].count
      else { return nil }
      return first...last
    }

    /// How many there are of which the other feed may have the same.
    func count(within other: Feed) -> Int {
      let span = other.times.compactMap { $0.map(Double.init) }
      guard let first = span.min(), let last = span.max() else { return all.count }
      let nearness = Double(Comparison.nearness)
      return times.count { time in
        time.map { Double($0) >= first - nearness && Double($0) <= last + nearness } ?? true
      }
    }

    /// The only one of this feed that can be the one at `place` in the other: of the same title and near its time, or, where
    /// times tell nothing, of a title that is in each feed once.
    func only(like place: Int, of other: Feed, byDays: Bool) -> Int? {
      guard let title = other.titles[place], let same = titled[title] else { return nil }
      if same.count == 1, other.titled[title]?.count == 1, times[same[0]] == nil || other.times[place] == nil
      {
        return same[0]
      }
      guard let time = other.times[place] else { return nil }
      let near = near(time, title, byDays: byDays)
      return near.count == 1 ? near[0] : nil
    }

    /// Those of a title that are near a time; none where very many are.
    func near(_ time: Int64, _ title: String, byDays: Bool) -> [Int] {
      let around = Self.around(time, timed[title] ?? [], times)
      guard around.count <= Self.mostAround else { return [] }
      return around.filter { index in
        times[index].map { byDays ? Comparison.isSameDay($0, time) : Comparison.isNear($0, time) } ?? false
      }
    }

    private static let mostAround = 64

    private static func around(_ time: Int64, _ sorted: [Int], _ times: [Int64?]) -> ArraySlice<Int> {
      func firstIndex(from limit: Double) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
          let middle = (low + high) / 2
          if Double(times[sorted[middle]] ?? 0) < limit { low = middle + 1 } else { high = middle }
        }
        return low
      }
      return sorted[firstIndex(from: Double(time) - day)..<firstIndex(from: (Double(time) + day).nextUp)]
    }
  }
}
