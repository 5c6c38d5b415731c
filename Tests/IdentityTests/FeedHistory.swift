import Identity
import PodcastModel

/// The states of one feed, oldest first. See `Histories/README.md` for the text form.
struct FeedHistory {
  private(set) var states: [[ItemTraits]] = []

  init(parsing text: String) {
    var items: [ItemTraits] = []
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      switch fields[0] {
      case "i": items.append(Self.item(fields))
      case "s": states.append(fields[2].split(separator: " ").flatMap { Self.numbers($0) }.map { items[$0] })
      default: break
      }
    }
  }

  private static func item(_ fields: [String]) -> ItemTraits {
    var item = ItemTraits(address: WebAddress(fields[2]), title: fields[3])
    item.guid = fields[1].isEmpty ? nil : fields[1]
    item.published = Int64(fields[4])
    // Duration, length, season and number.
    item.fingerprint = Int64(fields[5...8].joined(separator: " ").hashValue)
    return item
  }

  /// "7", "0-3" or "3-0".
  private static func numbers(_ range: Substring) -> [Int] {
    let ends = range.split(separator: "-").compactMap { Int($0) }
    guard ends.count == 2 else { return ends }
    return ends[0] <= ends[1] ? Array(ends[0]...ends[1]) : (ends[1]...ends[0]).reversed()
  }

  /// What became of all sightings of items in a history.
  struct Counts: Hashable {
    var sightings = 0
    var unchanged = 0
    /// The same episode, though the feed says something else of it.
    var changed = 0
    var new = 0
    var duplicates = 0
    /// New, although an episode that the state does not show has its guid, address or title.
    var doubtful = 0
  }

  /// Shows the matcher one state after the other.
  var counts: Counts {
    var (known, counts): ([ItemTraits], Counts) = ([], Counts())
    for items in states {
      let matches = EpisodeMatcher.match(items, known: known)
      let before = known
      let missing = Set(before.indices).subtracting(matches.compactMap(\.place))
      for (item, match) in zip(items, matches) {
        counts.sightings += 1
        switch match {
        case .known(let place, _):
          if before[place] == item { counts.unchanged += 1 } else { counts.changed += 1 }
          known[place] = item
        case .duplicate: counts.duplicates += 1
        case .new:
          counts.new += 1
          known.append(item)
          if missing.contains(where: { Self.isLike(before[$0], item) }) { counts.doubtful += 1 }
        }
      }
    }
    return counts
  }

  private static func isLike(_ one: ItemTraits, _ other: ItemTraits) -> Bool {
    one.guid != nil && one.guid == other.guid || one.address == other.address
      || !one.title.isEmpty && one.title == other.title
  }
}
