/// What all titles of a show have got or lost at once, before them, behind them, or both: "Ep. 12: ", " | Harbour Lights".
struct TitleAffix: Hashable {
  /// The titles of the items have it; else those of the episodes that are known.
  private let isOfItems: Bool
  /// Its words, with "#" for each number.
  private let before: [String]
  private let behind: [String]

  private static let longest = 8
  /// Titles of which it must be true.
  private static let fewest = 3

  /// The titles of both, without what most of those of one side have more than those of the other: letters and digits
  /// alone, as in `Candidate`.
  static func withoutCommon(_ items: [Candidate], _ known: [Candidate]) -> (
    items: [String?], known: [String?]
  ) {
    var titles = (items: items.map(\.title), known: known.map(\.title))
    let words = (items: items.map(\.words.all), known: known.map(\.words.all))
    var counts = count(words.items, words.known, isOfItems: true)
    counts.merge(count(words.known, words.items, isOfItems: false)) { $0 + $1 }
    guard let most = counts.max(by: { ($0.value, $0.key.order) < ($1.value, $1.key.order) }),
      most.value >= fewest
    else { return titles }
    let affix = most.key
    if affix.isOfItems {
      for (index, own) in words.items.enumerated() { affix.take(from: own, &titles.items[index]) }
    } else {
      for (index, own) in words.known.enumerated() { affix.take(from: own, &titles.known[index]) }
    }
    return titles
  }

  /// The titles of both, each without what nearly all of its own side begin and end with: where one host has put something
  /// before the titles, and the other something behind them.
  static func withoutOwn(_ items: [Candidate], _ known: [Candidate]) -> (items: [String?], known: [String?]) {
    (withoutOwn(items, isOfItems: true), withoutOwn(known, isOfItems: false))
  }

  private static func withoutOwn(_ all: [Candidate], isOfItems: Bool) -> [String?] {
    let words = all.map(\.words.all)
    let affix = TitleAffix(
      isOfItems: isOfItems, before: commonStart(words),
      behind: commonStart(words.map { $0.reversed() }).reversed())
    var titles = all.map(\.title)
    for (index, own) in words.enumerated() { affix.take(from: own, &titles[index]) }
    return titles
  }

  /// The most words that four fifths begin with, and have more than.
  private static func commonStart(_ titles: [[String]]) -> [String] {
    var common: [String] = []
    for length in 1...longest {
      let starts = titles.filter { $0.count > length }.map { $0.prefix(length).map(withoutNumbers) }
      let counts = starts.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      guard let most = counts.max(by: { ($0.value, $1.key.joined()) < ($1.value, $0.key.joined()) }),
        most.value >= fewest, most.value * 5 >= titles.count * 4
      else { break }
      common = most.key
    }
    return common
  }

  /// Of what is chosen among those that as many titles have, the shortest.
  private var order: String {
    "\(longestOrder - before.count - behind.count) \(isOfItems) \(before.joined(separator: " ")) # \(behind.joined(separator: " "))"
  }

  private var longestOrder: Int { 10 + 2 * Self.longest }

  /// How many titles have each, of those that would be another's without it.
  private static func count(_ titles: [[String]], _ others: [[String]], isOfItems: Bool) -> [TitleAffix: Int]
  {
    let known = Set(others.map { $0.joined() })
    let (first, last) = (Set(others.compactMap(\.first)), Set(others.compactMap(\.last)))
    var counts: [TitleAffix: Int] = [:]
    for words in titles where !known.contains(words.joined()) {
      let ends = words.indices.suffix(longest + 1).filter { last.contains(words[$0]) }
      for start in words.indices.prefix(longest + 1) where first.contains(words[start]) {
        for end in ends where end >= start && known.contains(words[start...end].joined()) {
          let affix = TitleAffix(
            isOfItems: isOfItems, before: words[..<start].map(withoutNumbers),
            behind: words[(end + 1)...].map(withoutNumbers))
          counts[affix, default: 0] += 1
        }
      }
    }
    return counts
  }

  private func take(from title: [String], _ text: inout String?) {
    guard title.count > before.count + behind.count,
      title.prefix(before.count).map(Self.withoutNumbers) == before,
      title.suffix(behind.count).map(Self.withoutNumbers) == behind
    else { return }
    text = title.dropFirst(before.count).dropLast(behind.count).joined()
  }

  private static func withoutNumbers(_ word: String) -> String {
    var result = ""
    for character in word {
      if !character.isNumber {
        result.append(character)
      } else if result.last != "#" {
        result.append("#")
      }
    }
    return result
  }
}
