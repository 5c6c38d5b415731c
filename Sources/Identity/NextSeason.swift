/// Whether what a page has of known guids is another season's: of two or more, with title and guid as they were, each is at
/// another address of the same host, and all are later by much the same long time.
///
/// An import dates all by one day, and what is published again comes by itself: neither keeps the distances between them.
struct NextSeason: Sendable {
  /// Seconds: what is that far apart is of another season.
  static let shortest = 60 * 86_400.0

  /// Seconds by which the season may be later.
  private var offsets: ClosedRange<Double>?

  private static let fewest = 2
  /// Seconds: a leap year's day, another day of the week.
  private static let tolerance = 3 * 86_400.0

  /// Where nobody asks.
  init() {}

  /// - Parameters: those that are not decided yet.
  init(items: [Candidate], known: [Candidate]) {
    let places = Dictionary(grouping: known.indices) { known[$0].traits.guid }
    let guids = Dictionary(grouping: items, by: \.traits.guid)
    var found: [(offset: Double, isExact: Bool)] = []
    var times: (items: [Double], known: [Double]) = ([], [])
    for item in items {
      guard let guid = item.traits.guid, guids[guid]?.count == 1, let same = places[guid], same.count == 1,
        let title = item.title, title == known[same[0]].title
      else { continue }
      let other = known[same[0]]
      guard item.address.host == other.address.host, item.address.unsigned != other.address.unsigned,
        let time = item.traits.published, let before = other.traits.published
      else { continue }
      found.append((Double(time) - Double(before), Self.isSameRecording(item, other)))
      times.items.append(Double(time))
      times.known.append(Double(before))
    }
    let all = found.map(\.offset)
    guard found.count >= Self.fewest, let least = all.min(), let most = all.max(), least >= Self.shortest,
      most - least <= Self.tolerance, found.count(where: \.isExact) * 2 < found.count,
      // By an import's one day nothing is told.
      Self.span(times.items) * 2 >= Self.span(times.known)
    else { return }
    offsets = least...most
  }

  private static func span(_ times: [Double]) -> Double { (times.max() ?? 0) - (times.min() ?? 0) }

  /// To the byte: the files are elsewhere, and are the same.
  private static func isSameRecording(_ item: Candidate, _ known: Candidate) -> Bool {
    item.length != nil && item.length == known.length
  }

  func has(offset: Double) -> Bool { offsets?.contains(offset) ?? false }
}
