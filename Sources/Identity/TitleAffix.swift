internal import PodcastModel

/// What all titles of a show have got or lost at once, before or behind them: "Ep. 12: ", " | Harbour Lights".
struct TitleAffix: Hashable {
  /// The titles of the items have it; else those of the episodes that are known.
  private let isOfItems: Bool
  private let isBefore: Bool
  /// Its words, with "#" for each number.
  private let words: [String]

  private static let longest = 8
  /// Titles of which it must be true.
  private static let fewest = 3

  /// The titles of both, without what most of those of one side have more than those of the other: letters and digits
  /// alone, as in `Candidate`.
  static func withoutCommon(_ items: [Candidate], _ known: [Candidate]) -> (
    items: [String?], known: [String?]
  ) {
    var titles = (items: items.map(\.title), known: known.map(\.title))
    let words = (items: items.map(words), known: known.map(words))
    var counts = count(words.items, known, isOfItems: true)
    counts.merge(count(words.known, items, isOfItems: false)) { $0 + $1 }
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

  /// Of what is chosen among those that as many titles have.
  private var order: String { "\(isOfItems) \(isBefore) \(words.joined(separator: " "))" }

  /// How many titles have each, of those that would be another's without it.
  private static func count(_ titles: [[String]], _ others: [Candidate], isOfItems: Bool) -> [TitleAffix: Int]
  {
    let known = Set(others.compactMap(\.title))
    var counts: [TitleAffix: Int] = [:]
    for words in titles where !known.contains(words.joined()) {
      for length in 1..<max(1, min(longest + 1, words.count)) {
        if known.contains(words.dropFirst(length).joined()) {
          let affix = TitleAffix(
            isOfItems: isOfItems, isBefore: true, words: words.prefix(length).map(withoutNumbers))
          counts[affix, default: 0] += 1
        }
        if known.contains(words.dropLast(length).joined()) {
          let affix = TitleAffix(
            isOfItems: isOfItems, isBefore: false, words: words.suffix(length).map(withoutNumbers))
          counts[affix, default: 0] += 1
        }
      }
    }
    return counts
  }

  private func take(from title: [String], _ text: inout String?) {
    guard title.count > words.count else { return }
    let part = isBefore ? title.prefix(words.count) : title.suffix(words.count)
    guard part.map(Self.withoutNumbers) == words else { return }
    text = (isBefore ? title.dropFirst(words.count) : title.dropLast(words.count)).joined()
  }

  private static func words(_ candidate: Candidate) -> [String] {
    TitleText.plain(candidate.traits.title).lowercased().split { !$0.isLetter && !$0.isNumber }.map(
      String.init)
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
