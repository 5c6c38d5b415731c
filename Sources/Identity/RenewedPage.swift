/// A page that says of its items what it said before, but has none of them where it was: each answer has addresses of its
/// own, or the site has been made anew, with other guids besides.
///
/// An item and an episode are the same where both are on one host, neither number nor duration speaks against it, and
/// each is the only one that has the title and the time to the second, by the clock of before; or, where one of them has no
/// date, or that of an import, the only one that has the title. At least two must be, and four fifths of those that can.
struct RenewedPage {
  private(set) var pairs: Set<WholeMove.Pair> = []

  private static let fewest = 2

  /// - Parameters: all items and all episodes of a feed of which nothing is as it was: no guid, no address.
  init(_ items: [Candidate], _ known: [Candidate]) {
    guard items.count >= Self.fewest, known.count >= Self.fewest else { return }
    let both = (items: Titled(items, others: known), known: Titled(known, others: items))
    let isClockKept = KeptClock.isKept(items, known, places: Array(repeating: nil, count: items.count))
    var found: Set<WholeMove.Pair> = []
    for (index, item) in items.enumerated() {
      guard let place = both.known.place(of: item, at: index, from: both.items, isClockKept: isClockKept),
        item.address.host == known[place].address.host, WholeMove.isNothingAgainst(item, known[place])
      else { continue }
      found.insert(WholeMove.Pair(item: index, place: place))
    }
    let needed = min(both.items.count(within: both.known), both.known.count(within: both.items))
    if found.count >= Self.fewest, found.count * 5 >= needed * 4 { pairs = found }
  }

  /// The items of the document, or the episodes, by what they say.
  private struct Titled {
    private let all: [Candidate]
    private let imported: ClosedRange<Double>?
    private var ofTitle: [String: [Int]] = [:]
    private var ofTime: [String: [Int]] = [:]

    init(_ all: [Candidate], others: [Candidate]) {
      self.all = all
      imported = WholeMove.Feed.timesOfImport(
        all.map(\.traits.published), others: others.map(\.traits.published))
      for (index, one) in all.enumerated() {
        guard let title = one.title else { continue }
        ofTitle[title, default: []].append(index)
        if let key = Self.timeKey(one) { ofTime[key, default: []].append(index) }
      }
    }

    private static func timeKey(_ one: Candidate) -> String? {
      one.title.flatMap { title in one.traits.published.map { "\($0) \(title)" } }
    }

    func place(of item: Candidate, at index: Int, from items: Titled, isClockKept: Bool) -> Int? {
      guard let title = item.title, let titled = ofTitle[title] else { return nil }
      let isTitleAlone = titled.count == 1 && items.ofTitle[title]?.count == 1
      if isClockKept || isTitleAlone, let key = Self.timeKey(item), let same = ofTime[key], same.count == 1,
        items.ofTime[key]?.count == 1
      {
        return same[0]
      }
      guard isTitleAlone, let place = titled.first else { return nil }
      let (own, other) = (items.all[index], all[place])
      if own.traits.published == nil || other.traits.published == nil {
        return own.address.withoutTokens != nil && own.address.withoutTokens == other.address.withoutTokens
          ? place : nil
      }
      // Each season has its "Episode 1".
      let isImported = items.isImported(own) || isImported(other)
      return isImported && !own.words.isOfAnySeason ? place : nil
    }

    private func isImported(_ one: Candidate) -> Bool {
      one.traits.published.map { imported?.contains(Double($0)) ?? false } ?? false
    }

    /// How many are of a title that the others have, at a time at which there are others.
    func count(within others: Titled) -> Int {
      let times = others.all.compactMap(\.traits.published)
      return all.count { one in
        guard let title = one.title, others.ofTitle[title] != nil else { return false }
        guard let time = one.traits.published, let first = times.min(), let last = times.max(),
          !isImported(one), others.imported == nil
        else { return true }
        return (first...last).contains(time)
      }
    }
  }
}
