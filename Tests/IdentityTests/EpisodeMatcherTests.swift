import Identity
import PodcastModel
import Testing

/// Invented histories as tables: one line for each item, "guid | address | title | hour = what it is". A line of dashes
/// begins the feed's next state. What an item is: `new`, `duplicate`, or the number of a known episode, in the order in
/// which they became known, with the rule.
@Suite struct EpisodeMatcherTests {
  struct History: CustomTestStringConvertible, Sendable {
    var name: String
    var table: String

    init(_ name: String, _ table: String) {
      self.name = name
      self.table = table
    }

    var testDescription: String { name }
  }

  @Test(arguments: duplicates + changes + rolling + moves)
  func `Each item of a history is what the table says`(history: History) {
    var known: [ItemTraits] = []
    let states = history.table.split(separator: "---").map { state in
      state.split(separator: "\n").map { Self.item(String($0)) }
    }
    for (number, state) in states.enumerated() {
      let matches = EpisodeMatcher.match(state.map(\.traits), known: known)
      for (item, match) in zip(state, matches) {
        #expect(Self.text(match) == item.expected, "\(history.name), state \(number): \(item.traits.title)")
        switch match {
        case .new: known.append(item.traits)
        case .known(let place, _): known[place] = item.traits
        case .duplicate: break
        }
      }
    }
  }

  private static func text(_ match: EpisodeMatcher.Match) -> String {
    switch match {
    case .new: "new"
    case .duplicate: "duplicate"
    case .known(let place, let rule): "\(place) \(rule)"
    }
  }

  private static func item(_ line: String) -> (traits: ItemTraits, expected: String) {
    let sides = line.split(separator: " = ")
    let fields = sides[0].split(separator: "|", omittingEmptySubsequences: false).map { field in
      field.split(separator: " ").joined(separator: " ")
    }
    var traits = ItemTraits(address: WebAddress("https://\(fields[1])"), title: fields[2])
    traits.guid = fields[0].isEmpty ? nil : fields[0]
    traits.published = Double(fields[3]).map { 1_704_276_000 + Int64($0 * 3600) }
    return (traits, sides[1].split(separator: " ").joined(separator: " "))
  }

  private static let duplicates = [
    History(
      "One item several times is one episode",
      """
      a | m/1.mp3 | News | 0  = new
      a | m/1.mp3 | News | 0  = duplicate
      a | m/1.mp3 | News | 24 = duplicate
      ---
      a | m/1.mp3 | News | 0  = 0 unchanged
      a | m/1.mp3 | News | 0  = duplicate
      """),
    History(
      "One guid at two addresses is two episodes",
      """
      a | m/1.mp3 | Part 1 | 0 = new
      a | m/2.mp3 | Part 2 | 0 = new
      ---
      a | m/2.mp3 | Part 2 | 0 = 1 unchanged
      a | m/1.mp3 | Part 1 | 0 = 0 unchanged
      """),
    History(
      "Without a guid, one address and title is one episode",
      """
      | m/1.mp3 | News      | 0 = new
      | m/1.mp3 | News      | 5 = duplicate
      | m/1.mp3 | Other     | 5 = new
      """),
    History(
      "A folder that looks like a host is part of an address where one document has several",
      """
      | m.example/202401/radio.show/news.mp3 | News | 0    = new
      | m.example/202402/radio.show/news.mp3 | News | 744  = new
      ---
      | m.example/202402/radio.show/news.mp3 | News | 744  = 1 unchanged
      | m.example/202403/radio.show/news.mp3 | News | 1440 = new
      """),
  ]

  private static let changes = [
    History(
      "A corrected title, another date, another address: the guid stays",
      """
      a | m/1.mp3 | Harbor  | 0   = new
      ---
      a | m/1.mp3 | Harbour | 0   = 0 guid
      ---
      a | m/1.mp3 | Harbour | 100 = 0 guid
      b | m/2.mp3 | Lights  | 99  = new
      ---
      a | n/9.mp3 | Harbour | 100 = 0 guid
      """),
    History(
      "An episode is dated and named anew, under its guid and address",
      """
      a | m/1.mp3 | Week 3 | 0   = new
      b | m/2.mp3 | Week 4 | 168 = new
      ---
      a | m/1.mp3 | Week 1 | 900 = 0 guid
      b | m/2.mp3 | Week 2 | 999 = 1 guid
      """),
    History(
      "A guid that is used again for another episode",
      """
      a | m/1.mp3 | Harbour | 0   = new
      ---
      a | m/2.mp3 | Foghorn | 100 = new
      ---
      a | m/1.mp3 | Harbour | 0   = 0 unchanged
      a | m/2.mp3 | Foghorn | 100 = 1 unchanged
      """),
    History(
      "Another guid at the same address",
      """
      a | m/1.mp3 | Harbour | 0 = new
      b | m/2.mp3 | Foghorn | 9 = new
      ---
      x | m/1.mp3 | Harbour | 0 = 0 address
      b | m/2.mp3 | Foghorn | 9 = 1 unchanged
      """),
    History(
      "Another scheme, signature or tracker is the same address",
      """
      | m.example/1.mp3?token=1                                 | Harbour  | 0  = new
      | m.example/2.mp3                                         | Foghorn  | 90 = new
      ---
      | m.example/1.mp3?token=2                                 | Harbours | 0  = 0 address
      | dts.podtrac.com/redirect.mp3/m.example/2.mp3?utm_a=b    | Foghorns | 90 = 1 address
      """),
    History(
      "An address that is used again for another episode",
      """
      | m/new.mp3 | Harbour | 0   = new
      | m/old.mp3 | Foghorn | -50 = new
      ---
      | m/new.mp3 | Beacon  | 90  = new
      | m/old.mp3 | Foghorn | -50 = 1 unchanged
      """),
    History(
      "Another guid and address, the same title and day",
      """
      a | m/1.mp3 | Harbour | 0  = new
      b | m/2.mp3 | Foghorn | 90 = new
      ---
      x | n/1.mp3 | Harbour | 5  = 0 title
      b | m/2.mp3 | Foghorn | 90 = 1 unchanged
      """),
    History(
      "The same title on another day is another episode",
      """
      a | m/1.mp3 | News | 0  = new
      ---
      b | m/2.mp3 | News | 24 = new
      a | m/1.mp3 | News | 0  = 0 unchanged
      """),
    History(
      "Items that vanish and come back",
      """
      a | m/1.mp3 | Harbour | 0  = new
      b | m/2.mp3 | Foghorn | 90 = new
      ---
      b | m/2.mp3 | Foghorn | 90 = 1 unchanged
      ---
      a | m/1.mp3 | Harbour | 0  = 0 unchanged
      """),
    History(
      "Items without title, guid and date are told apart by their addresses",
      """
      | m/1.mp3 | | - = new
      | m/2.mp3 | | - = new
      ---
      | m/3.mp3 | | - = new
      | m/2.mp3 | | - = 1 unchanged
      | m/1.mp3 | | - = 0 unchanged
      """),
  ]

  private static let rolling = [
    History(
      "One item at a time, each hour at the same address, without a guid",
      """
      | m/latest.mp3 | News | 0 = new
      ---
      | m/latest.mp3 | News | 1 = new
      ---
      | m/latest.mp3 | News | 2 = new
      ---
      | m/latest.mp3 | News | 2 = 2 unchanged
      """),
    History(
      "One item at a time, each day under the same guid and title at the same address",
      """
      a | m/latest.mp3 | News | 0  = new
      ---
      a | m/latest.mp3 | News | 2  = 0 guid
      ---
      a | m/latest.mp3 | News | 24 = new
      ---
      a | m/latest.mp3 | News | 24 = 1 unchanged
      """),
    History(
      "One item at a time, each with a guid and an address",
      """
      a | m/a.mp3 | News | 0 = new
      ---
      b | m/b.mp3 | News | 1 = new
      ---
      c | m/c.mp3 | News | 2 = new
      """),
    History(
      "One item at a time under one guid and address, of which title and day are others",
      """
      a | m/latest.mp3 | Monday  | 0  = new
      ---
      a | m/latest.mp3 | Tuesday | 24 = new
      """),
    History(
      "Three bulletins of one title, which move on by one",
      """
      b | m/b.mp3 | News | 1 = new
      c | m/c.mp3 | News | 2 = new
      d | m/d.mp3 | News | 3 = new
      ---
      c | m/c.mp3 | News | 2 = 1 unchanged
      d | m/d.mp3 | News | 3 = 2 unchanged
      e | m/e.mp3 | News | 4 = new
      """),
    History(
      "The bulletins of a day, which have the titles of those of the day before",
      """
      a | m/a.mp3 | News at 6  | 6  = new
      b | m/b.mp3 | News at 12 | 12 = new
      c | m/c.mp3 | News at 18 | 18 = new
      ---
      d | m/d.mp3 | News at 6  | 30 = new
      e | m/e.mp3 | News at 12 | 36 = new
      f | m/f.mp3 | News at 18 | 42 = new
      """),
    History(
      "The same, where each day has a host of its own",
      """
      a | m/a.mp3 | News at 6  | 6  = new
      b | m/b.mp3 | News at 12 | 12 = new
      c | m/c.mp3 | News at 18 | 18 = new
      ---
      d | n/d.mp3 | News at 6  | 30 = new
      e | n/e.mp3 | News at 12 | 36 = new
      f | n/f.mp3 | News at 18 | 42 = new
      """),
    History(
      "Bulletins without a date, which have the titles of those before",
      """
      a | m/a.mp3 | News at 6  | - = new
      b | m/b.mp3 | News at 12 | - = new
      ---
      d | m/d.mp3 | News at 6  | - = new
      e | m/e.mp3 | News at 12 | - = new
      """),
    History(
      "Two bulletins of one title, twelve hours apart, which move on by two",
      """
      a | m/a.mp3 | News | 0  = new
      b | m/b.mp3 | News | 12 = new
      ---
      c | m/c.mp3 | News | 24 = new
      d | m/d.mp3 | News | 36 = new
      """),
    History(
      "Three bulletins under one guid, which move on by one",
      """
      a | m/b.mp3 | News | 1 = new
      a | m/c.mp3 | News | 2 = new
      a | m/d.mp3 | News | 3 = new
      ---
      a | m/c.mp3 | News | 2 = 1 unchanged
      a | m/d.mp3 | News | 3 = 2 unchanged
      a | m/e.mp3 | News | 4 = new
      """),
  ]

  private static let moves = [
    History(
      "A show on another host with new guids and addresses, in another time zone",
      """
      a | m/a.mp3 | Harbour | 0   = new
      b | m/b.mp3 | Foghorn | 90  = new
      c | m/c.mp3 | Beacon  | 180 = new
      ---
      x | n/x.mp3 | Harbour | 5   = 0 title
      y | n/y.mp3 | Foghorn | 95  = 1 title
      z | n/z.mp3 | Beacon  | 185 = 2 title
      """),
    History(
      "A show of one title on another host",
      """
      a | m/a.mp3 | The show | 0   = new
      b | m/b.mp3 | The show | 168 = new
      c | m/c.mp3 | The show | 336 = new
      ---
      x | n/x.mp3 | The show | 0   = 0 title
      y | n/y.mp3 | The show | 168 = 1 title
      z | n/z.mp3 | The show | 336 = 2 title
      """),
    History(
      "A host that dates all episodes by the day of the import",
      """
      a | m/a.mp3 | Harbour | 0   = new
      b | m/b.mp3 | Foghorn | 90  = new
      c | m/c.mp3 | Harbour | 180 = new
      ---
      x | n/x.mp3 | Foghorn | 999 = 1 moved
      y | n/y.mp3 | Beacon  | 999 = new
      """),
    History(
      "Where something is kept, a title alone is not enough",
      """
      a | m/a.mp3 | Harbour | 0   = new
      b | m/b.mp3 | Foghorn | 90  = new
      ---
      a | m/a.mp3 | Harbour | 0   = 0 unchanged
      y | n/y.mp3 | Foghorn | 999 = new
      """),
  ]

  @Test func `The order of the document makes no difference`() {
    let known = (0..<50).map { number in
      var traits = ItemTraits(address: WebAddress("https://m/\(number).mp3"), title: "Part \(number % 20)")
      traits.guid = number % 3 == 0 ? "g\(number % 30)" : nil
      traits.published = Int64(number % 25) * 50_000
      return traits
    }
    let items = known.enumerated().map { number, traits in
      var item = traits
      if number % 4 == 0 { item.guid = "h\(number)" }
      if number % 5 == 0 { item.title += "!" }
      if number % 7 == 0 { item.address = WebAddress("https://n/\(number).mp3") }
      return item
    }
    let forward = EpisodeMatcher.match(items, known: known).map(\.place)
    let backward = EpisodeMatcher.match(items.reversed(), known: known).map(\.place)
    #expect(Set(forward.compactMap(\.self)) == Set(backward.compactMap(\.self)))
    #expect(Set(forward.compactMap(\.self)).count == forward.compactMap(\.self).count)
  }

  @Test func `Ten thousand items of one title take no longer than others`() {
    let known = (0..<10_000).map { number in
      var traits = ItemTraits(address: WebAddress("https://m/\(number).mp3"), title: "News")
      traits.published = Int64(number) * 3600
      return traits
    }
    let moved = known.map { traits in
      var item = traits
      item.address = WebAddress(traits.address.forRequest.replacing("//m/", with: "//n/"))
      return item
    }
    #expect(EpisodeMatcher.match(moved, known: known).compactMap(\.place) == Array(known.indices))
    #expect(EpisodeMatcher.match(known, known: known).compactMap(\.place) == Array(known.indices))
  }
}
