internal import Identity
internal import PodcastModel

/// Any items and any episodes are paired one to one, and what is as it was stays. The input is read as traits of small
/// alphabets, so that items share much.
enum IdentityFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    var source = ByteSource(bytes)
    let known = source.traits()
    let items = source.traits()
    let matches = EpisodeMatcher.match(items, known: known)
    require(matches.count == items.count)
    let places = matches.compactMap(\.place)
    require(Set(places).count == places.count && places.allSatisfy(known.indices.contains))
    for (item, match) in zip(items, matches) {
      guard case .known(let place, let rule) = match else { continue }
      let episode = known[place]
      switch rule {
      case .unchanged:
        var same = item
        same.fingerprint = episode.fingerprint
        require(same == episode)
      case .guid: require(item.guid != nil && item.guid == episode.guid)
      case .address:
        require(StableAddress.text(item.address) == StableAddress.text(episode.address))
      case .title, .moved: require(!item.title.isEmpty && !episode.title.isEmpty)
      }
    }
    // The same document again has nothing new.
    let shown = zip(items, matches).filter { $0.1 != .duplicate }.map(\.0)
    require(EpisodeMatcher.match(items, known: shown).allSatisfy { $0 != .new })
    return 0
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
      traits.fingerprint = choice(of: 5).map { Int64($0) * 100 } ?? 0
      return traits
    }
  }
}
