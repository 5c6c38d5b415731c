/// How many items, and how many episodes, have a trait: what several have tells none of them.
struct Rarity: Sendable {
  private var ofItems: [TraitKey: Int] = [:]
  private var ofKnown: [TraitKey: Int] = [:]
  private let times: (items: [Int64], known: [Int64])

  /// - Parameter relevant: the keys that are asked for.
  init(items: [Candidate], known: [Candidate], relevant: Set<TraitKey>) {
    for item in items { for key in item.keys where relevant.contains(key) { ofItems[key, default: 0] += 1 } }
    for one in known { for key in one.keys where relevant.contains(key) { ofKnown[key, default: 0] += 1 } }
    times = (items.compactMap(\.traits.published).sorted(), known.compactMap(\.traits.published).sorted())
  }

  func isRare(_ key: TraitKey) -> Bool { ofItems[key, default: 0] <= 1 && ofKnown[key, default: 0] <= 1 }

  /// Whether nothing else was published about then.
  func isAlone(item: Int64, known: Int64) -> Bool {
    Self.isAlone(item, in: times.items) && Self.isAlone(known, in: times.known)
  }

  private static func isAlone(_ time: Int64, in sorted: [Int64]) -> Bool {
    // Doubles, so that no time that a feed gives overflows.
    let (first, last) = (
      Double(time) - Double(Comparison.nearness), Double(time) + Double(Comparison.nearness)
    )
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if Double(sorted[middle]) < first { low = middle + 1 } else { high = middle }
    }
    return low + 1 >= sorted.count || Double(sorted[low + 1]) > last
  }
}
