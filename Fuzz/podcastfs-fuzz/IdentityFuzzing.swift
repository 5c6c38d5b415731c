internal import Identity
internal import PodcastModel

/// Any items and any episodes are paired one to one, for enough reason, and in any order the same. The input is read as
/// traits of small alphabets, so that much is shared.
enum IdentityFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    var source = ByteSource(bytes)
    let known = source.traits()
    let items = source.traits()
    let decisions = IdentityEngine.decide(items, known: known)
    require(decisions.count == items.count)
    let places = decisions.compactMap(\.place)
    require(Set(places).count == places.count && places.allSatisfy(known.indices.contains))
    for case .known(let place, let evidence) in decisions {
      require(evidence.score >= Evidence.enough, "\(known[place])")
      // Two that are weak are not enough.
      let supporting = evidence.findings.filter { $0.points > 0 }
      let some = supporting.count { $0.points >= 20 }
      require(supporting.count > 2 || some > 1 || supporting.contains { $0.points >= 36 }, "\(evidence)")
    }
    // As many as are equal in everything stay.
    let unchanged = multiset(items).reduce(0) { $0 + min($1.value, multiset(known)[$1.key] ?? 0) }
    require(places.count >= unchanged)
    check(decisions, items, known, reversed: IdentityEngine.decide(items.reversed(), known: known.reversed()))
    require(IdentityEngine.decide(known, known: known).compactMap(\.place).count == known.count)
    return 0
  }

  /// Which item became which episode, by their traits: equal ones cannot be told apart.
  private static func check(
    _ decisions: [IdentityEngine.Decision], _ items: [ItemTraits], _ known: [ItemTraits],
    reversed: [IdentityEngine.Decision]
  ) {
    let forward = zip(items, decisions).map { item, decision in [item, decision.place.map { known[$0] }] }
    let backward = zip(items.reversed(), reversed).map { item, decision in
      [item, decision.place.map { known[known.count - 1 - $0] }]
    }
    require(multiset(forward) == multiset(backward), "the order makes a difference")
  }

  private static func multiset<T: Hashable>(_ values: [T]) -> [T: Int] {
    values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }
}

/// Reads bytes as choices; at their end it says 0.
struct ByteSource {
  private let bytes: UnsafeRawBufferPointer
  private var next = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { next >= bytes.count }

  mutating func byte() -> Int {
    guard next < bytes.count else { return 0 }
    defer { next += 1 }
    return Int(bytes[next])
  }

  /// nil for one of so many.
  mutating func choice(of count: Int) -> Int? {
    let value = byte() % (count + 1)
    return value == 0 ? nil : value
  }

  mutating func traits() -> [ItemTraits] {
    (0..<(byte() % 12)).map { _ in
      let address = byte()
      let host = ["a.example", "b.example", "www.a.example"][address % 3]
      let path = ["\(address / 3 % 5).mp3", "latest.mp3", "play?sid=\(address / 3)", "x/\(address / 9)"][
        address / 3 % 4]
      var traits = ItemTraits(
        address: WebAddress("http\(address > 128 ? "s" : "")://\(host)/\(path)"),
        title: ["", "News", "Part 1", "Part 2", "part 1!"][byte() % 5])
      traits.guid = choice(of: 6).map { "g\($0)" }
      traits.published = choice(of: 8).map { 1_500_000_000 + Int64($0) * 30_000 }
      traits.duration = choice(of: 5).map { $0 * 100 }
      traits.length = choice(of: 4).map { Int64($0) * 9000 }
      traits.season = choice(of: 2)
      traits.number = choice(of: 4)
      return traits
    }
  }
}
