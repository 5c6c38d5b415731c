import Identity
import PodcastModel
import Testing

/// Guids that name the episode, whatever else is corrected; and those that name something else.
@Suite struct ReusedGuidTests {
  static let hour: Int64 = 3600
  static let day: Int64 = 86_400
  static let start: Int64 = 1_704_276_000  // 2024-01-03 10:00
  private static let words = [
    "storm", "harvest", "election", "football", "bridge", "winter", "garden", "music",
  ]

  private func item(
    _ title: String, guid: String?, _ address: String, at time: Int64? = nil, duration: Int? = nil,
    length: Int64? = nil, number: Int? = nil
  ) -> ItemTraits {
    var traits = ItemTraits(address: WebAddress(address), title: title)
    traits.guid = guid
    traits.published = time.map { Self.start + $0 }
    traits.duration = duration
    traits.length = length
    traits.number = number
    return traits
  }

  private func places(_ items: [ItemTraits], _ known: [ItemTraits]) -> [Int?] {
    let decided = IdentityEngine.decide(items, known: known).map(\.place)
    let reversed = IdentityEngine.decide(items.reversed(), known: known).map(\.place)
    #expect(reversed.reversed() == decided)
    return decided
  }

  /// What is known after each state of a feed, and which item of it each has become.
  private func grown(_ states: [[ItemTraits]]) -> [ItemTraits] {
    var known: [ItemTraits] = []
    for state in states {
      for (item, place) in zip(state, places(state, known)) {
        if let place { known[place] = item } else { known.append(item) }
      }
    }
    return known
  }

  /// What is left of an item without what the feed does not say.
  struct Said: OptionSet, CustomTestStringConvertible {
    let rawValue: Int
    static let durations = Said(rawValue: 1)
    static let lengths = Said(rawValue: 2)
    var testDescription: String { "durations: \(contains(.durations)), lengths: \(contains(.lengths))" }
    static let all: [Said] = [[], .durations, .lengths, [.durations, .lengths]]
    func left(of item: ItemTraits) -> ItemTraits {
      var item = item
      if !contains(.durations) { item.duration = nil }
      if !contains(.lengths) { item.length = nil }
      return item
    }
  }

  // MARK: The publisher's own word

  @Test(arguments: Said.all)
  func whatIsCorrectedOfAnEpisodeLeavesSomethingAsItWas(said: Said) {
    let before = item(
      "Frist: the beginning", guid: "tag:1", "https://a.example/ep1.mp3", at: 0, duration: 1800,
      length: 500_000,
      number: 1)
    var another = before
    another.title = "Something else"
    another.address = "https://b.example/9.mp3"
    another.published = before.published.map { $0 + 40 * Self.day }
    another.duration = 5000
    another.length = 900_000
    another.number = 2
    let other = item(
      "Another one", guid: "tag:2", "https://a.example/ep2.mp3", at: 7 * Self.day, duration: 1800)
    // Each may be as it was while all else is corrected.
    for keep in ["title", "title mended", "title and more", "address", "day", "address and audio"] {
      var corrected = another
      switch keep {
      case "title": (corrected.title, corrected.duration, corrected.number) = (before.title, 1810, 1)
      case "title mended":
        (corrected.title, corrected.duration, corrected.number) = ("First: the beginning", 1800, 1)
      case "title and more":
        (corrected.title, corrected.duration, corrected.number) = ("12. \(before.title) | The show", 1800, 1)
      case "address": (corrected.address, corrected.duration) = (before.address, 1800)
      case "day": corrected.published = before.published.map { $0 + Self.hour }
      default: (corrected.address, corrected.duration, corrected.length) = (before.address, 1800, 500_000)
      }
      for known in [[before], [before, other]] {
        #expect(
          places([said.left(of: corrected)], known.map(said.left)) == [0], "\(keep), \(known.count) known")
        let items = [corrected] + known.dropFirst()
        #expect(places(items.map(said.left), known.map(said.left)).first == 0, "\(keep)")
      }
    }
    // All at once is no correction.
    #expect(places([said.left(of: another)], [said.left(of: before)]) == [nil])
  }

  @Test(arguments: Said.all)
  func aHostMoveThatKeepsGuidsKeepsEpisodes(said: Said) {
    for titles in [Self.words, Array(repeating: "The weekly show", count: 8)] {
      let known = titles.enumerated().map {
        item(
          $1, guid: "g\($0)", "https://a.example/\($0).mp3", at: Int64($0) * 7 * Self.day, duration: 1800,
          length: 500_000 + Int64($0))
      }
      let moved = known.enumerated().map { number, one in
        var one = one
        one.address = WebAddress("https://b.example/media/\(number * 31)/file.mp3")
        one.length = 700_000 + Int64(number)
        return said.left(of: one)
      }
      #expect(places(moved, known.map(said.left)) == Array(0..<8))
      // Dated anew by the import.
      let imported = moved.enumerated().map { number, one in
        var one = one
        one.published = Self.start + 200 * Self.day + Int64(number)
        return one
      }
      if titles == Self.words { #expect(places(imported, known.map(said.left)) == Array(0..<8)) }
    }
  }

  /// Also where its address has the next number, and in a feed that shows no other item.
  @Test(
    arguments: Said.all,
    ["https://a.example/8700.mp3", "https://a.example/files/8121-b.mp3", "https://b.example/new.mp3"])
  func anUploadAnewWithACorrectedDateIsTheSame(said: Said, address: String) {
    let known = item(
      "Storm at sea", guid: "https://a.example/?p=12", "https://a.example/8121.mp3", at: 0, duration: 1800,
      length: 500_000)
    let other = item(
      "Harvest", guid: "https://a.example/?p=11", "https://a.example/8120.mp3", at: -7 * Self.day,
      duration: 1700)
    let again = said.left(
      of: item(
        "Storm at sea", guid: "https://a.example/?p=12", address, at: 3 * Self.day, duration: 1790,
        length: 510_000))
    #expect(places([again], [said.left(of: known)]) == [0])
    #expect(places([again], [said.left(of: known), said.left(of: other)]) == [0])
    #expect(places([again, said.left(of: other)], [known, other].map(said.left)) == [0, 1])
  }

  @Test func withoutADateAGuidStandsForACorrectedTitleAndAddress() {
    let known = item("One", guid: "a", "https://a.example/1.mp3")
    #expect(places([item("Else", guid: "a", "https://b.example/2.mp3")], [known]) == [0])
  }

  // MARK: Guids of something else

  @Test(arguments: Said.all, [1, 2, 5])
  func aGuidThatIsTheSameForAllTellsNothing(said: Said, window: Int) {
    for titles in [Self.words, Array(repeating: "The show", count: 8)] {
      let all = titles.enumerated().map { number, title in
        said.left(
          of: item(
            title, guid: "the-show", "https://m.example/show-\(number).mp3", at: Int64(number) * Self.day,
            duration: 300 + number * 7 % 5, length: 400_000 + Int64(number)))
      }
      let states = (window...8).map { Array(all[($0 - window)..<$0]) }
      #expect(grown(states) == all, "\(titles[0])")
    }
  }

  @Test(arguments: Said.all)
  func guidsThatAreUsedAgainEachSeasonTellNothing(said: Said) {
    for titles in [Self.words, (1...8).map { "Episode \($0)" }] {
      let seasons = (0..<2).map { season in
        (0..<8).map { number in
          said.left(
            of: item(
              season == 0
                ? titles[number] : titles == Self.words ? titles[7 - number] + " again" : titles[number],
              guid: "\(number + 1)", "https://m.example/s\(season)/e\(number + 1).mp3",
              at: Int64(season) * 365 * Self.day + Int64(number) * 7 * Self.day,
              duration: 1000 + season * 700 + number * 20, length: 400_000 + Int64(season * 100 + number)))
        }
      }
      #expect(grown(seasons) == seasons[0] + seasons[1], "\(titles[0])")
      // One by one, while the old ones are still there.
      let states = (0...8).map { count in Array(seasons[0].dropFirst(count)) + seasons[1].prefix(count) }
      #expect(Set(grown(states)) == Set(seasons[0] + seasons[1]), "\(titles[0])")
    }
  }

  /// As a calendar's doors: each lasts about as long as last year's.
  @Test(arguments: Said.all, ["Door #", "Stage #: the tour"])
  func nextYearsDoorsAreNewHoweverLongTheyLast(said: Said, title: String) {
    let seasons = (0..<3).map { season in
      (1...8).map { number in
        said.left(
          of: item(
            title.replacing("#", with: "\(number)"), guid: "door-\(number)",
            "https://m.example/\(2024 + season)/door\(number).mp3",
            at: Int64(season) * 365 * Self.day + Int64(number) * Self.day,
            duration: 600 + (number + season) % 7, length: 400_000 + Int64(season * 100 + number)))
      }
    }
    #expect(grown(seasons) == seasons.flatMap(\.self))
    // Two by two, in a feed that shows eight.
    let all = seasons.flatMap(\.self)
    let states = stride(from: 8, through: all.count, by: 2).map { Array(all[($0 - 8)..<$0]) }
    #expect(grown(states) == all)
    // One by one, where the title is one that each season has.
    if title == "Door #" {
      #expect(grown((8...all.count).map { Array(all[($0 - 8)..<$0]) }) == all)
    }
  }

  @Test(arguments: Said.all)
  func aPageThatIsDatedAnewAndUploadedAgainKeepsItsEpisodes(said: Said) {
    for titles in [Self.words.map { "About \($0)" }, (1...8).map { "Part \($0): the sea" }] {
      let known = titles.enumerated().map { number, title in
        said.left(
          of: item(
            title, guid: "item-\(number)", "https://m.example/2024/\(number).mp3",
            at: Int64(number) * 7 * Self.day, duration: 601 + number, length: 400_000 + Int64(number)))
      }
      // By the import of the same host's new software.
      let imported = known.enumerated().map { number, one in
        var one = one
        one.address = WebAddress("https://m.example/media/2025/\(number).mp3")
        one.published = Self.start + 300 * Self.day + Int64(number)
        return one
      }
      #expect(places(imported, known) == Array(0..<8), "\(titles[0])")
      // One that is published again, long after.
      var again = known
      again[1] = imported[1]
      #expect(places(again, known) == Array(0..<8), "\(titles[0])")
    }
  }

  @Test(arguments: Said.all, [3, 20])
  func placesInTheListAreNoGuids(said: Said, window: Int) {
    for (titles, days) in [(Self.words, 1), (Self.words, 7), (Array(repeating: "The show", count: 8), 7)] {
      let all = titles.enumerated().map { number, title in
        said.left(
          of: item(
            title, guid: nil, "https://m.example/show-\(number * 13).mp3",
            at: Int64(number * days) * Self.day,
            duration: 1800, length: 400_000 + Int64(number)))
      }
      let states = (1...8).map { end in
        all[max(0, end - window)..<end].reversed().enumerated().map { place, one in
          var one = one
          one.guid = "\(place + 1)"
          return one
        }
      }
      let grown = grown(states)
      #expect(grown.map(\.address) == all.map(\.address), "\(titles[0]), each \(days) days")
      #expect(grown.map(\.title) == all.map(\.title))
    }
  }

  /// Whatever it looks like; the files last as long as each does.
  @Test(arguments: ["podcast-1", "abc123", "show"])
  func aGuidWithANumberThatIsTheSameForAllTellsNothing(guid: String) {
    let durations = [1500, 1733, 1411, 1602]
    let all = durations.enumerated().map { number, duration in
      item(
        "Sunday Sermon", guid: guid, "https://m.example/\(Self.words[number]).mp3",
        at: Int64(number) * 7 * Self.day, duration: duration)
    }
    #expect(grown(all.map { [$0] }) == all)
  }

  /// Also where the show moves to another host, which calls all files the same.
  @Test(arguments: Said.all) func placesInTheListAreNoGuidsOfAShowThatMoves(said: Said) {
    func feed(_ host: String, _ count: Int) -> [ItemTraits] {
      (0..<count).reversed().map { number in
        said.left(
          of: item(
            "Story \(Self.words[number])", guid: "\(count - number)",
            "https://\(host).example/play?id=\(number + 100)",
            at: Int64(number) * Self.day, duration: 1000 + 37 * number, length: 400_000 + Int64(number)))
      }
    }
    let (known, moved) = (feed("old", 6), feed("new", 8))
    #expect(places(moved, known) == [nil, nil] + Array(0..<6))
  }

  @Test(arguments: Said.all, [true, false])
  func guidsThatAreExchangedAreNotBelieved(said: Said, isDated: Bool) {
    let known = (0..<4).map { number in
      said.left(
        of: item(
          Self.words[number], guid: "g\(number)", "https://m.example/\(number)0.mp3",
          at: isDated ? Int64(number) * 7 * Self.day : nil, duration: 1000 + 400 * number,
          length: 400_000 + Int64(number)))
    }
    var exchanged = known
    (exchanged[1].guid, exchanged[2].guid) = (known[2].guid, known[1].guid)
    #expect(places(exchanged, known) == [0, 1, 2, 3])
    // Where the files or the titles are exchanged, the guids stand.
    var files = known
    (files[1].address, files[2].address) = (known[2].address, known[1].address)
    if isDated { #expect(places(files, known) == [0, 1, 2, 3]) }
    var titles = known
    (titles[1].title, titles[2].title) = (known[2].title, known[1].title)
    if isDated { #expect(places(titles, known) == [0, 1, 2, 3]) }
  }

  // MARK: The newest at one address

  /// With titles of their own, of one template, or all the same; and durations that are near, far, or not told.
  @Test(arguments: ["latest.mp3", "news.mp3", "the-daily-news-latest.mp3"], Said.all)
  func eachDaysEditionAtTheAddressThatIsItsGuidIsNew(file: String, said: Said) {
    let address = "https://m.example/audio/\(file)"
    for titles in [
      Self.words, (1...8).map { "News of \($0) January" }, Array(repeating: "The news", count: 8),
    ] {
      for guid in [address, "http://m.example/audio/\(file)", "the-news"] {
        let all = titles.enumerated().map { number, title in
          said.left(
            of: item(
              title, guid: guid, address, at: Int64(number) * Self.day, duration: 300 + number % 3,
              length: 400_000 + Int64(number)))
        }
        #expect(grown(all.map { [$0] }) == all, "\(titles[0]), \(guid)")
      }
    }
  }

  /// Beside an archive, into which each goes with a guid and a file of its own.
  @Test func theNewestGoesIntoTheArchiveUnderAnotherGuid() {
    let all = Self.words.enumerated().map {
      item($1, guid: "g\($0)", "https://m.example/archive/\($0).mp3", at: Int64($0) * Self.day, duration: 300)
    }
    let states = (1...8).map { count in
      var shown = Array(all.prefix(count))
      shown[count - 1].guid = "https://m.example/latest.mp3"
      shown[count - 1].address = "https://m.example/latest.mp3"
      return shown
    }
    #expect(grown(states).map(\.title) == Self.words)
  }

  @Test(arguments: [[.lengths], [.durations, .lengths]] as [Said])
  func eachHoursEditionAtTheAddressThatIsItsGuidIsNew(said: Said) {
    let address = "https://m.example/latest.mp3"
    let all = (0..<8).map { number in
      said.left(
        of: item(
          "The news", guid: address, address, at: Int64(number) * Self.hour, duration: 300,
          length: 400_000 + Int64(number)))
    }
    #expect(grown(all.map { [$0] }) == all)
    // Where nothing but the time is another one, it may have been corrected.
    let bare = Said().left(of: all[0])
    #expect(places([Said().left(of: all[1])], [bare]) == [0])
  }

  @Test func aTrailerWhoseDateIsPutOffIsTheSame() {
    for address in ["https://m.example/trailer.mp3", "https://m.example/ep1.mp3"] {
      let known = item("Trailer", guid: address, address, at: 0, duration: 62, length: 400_000)
      let later = item("Trailer", guid: address, address, at: 5 * Self.day, duration: 62, length: 400_000)
      #expect(places([later], [known]) == [0])
    }
  }

  // MARK: Bulletins

  /// One at a time, without a guid; of equal length in bytes, or at addresses that come again.
  @Test(
    arguments: [
      ["https://m.example/latest.mp3"], ["https://m.example/play.mp3?sid=#"],
      ["https://m.example/play.mp3?token=#"],
      ["https://m.example/news-0.mp3", "https://m.example/news-1.mp3", "https://m.example/news-2.mp3"],
      ["https://m.example/am.mp3", "https://m.example/pm.mp3"], ["https://m.example/n#.mp3"],
    ], Said.all)
  func bulletinsAloneInTheirFeedStayApart(addresses: [String], said: Said) {
    for hours in [1, 4, 6, 12, 24] as [Int64] {
      for hasGuid in [false, true] where !hasGuid || !addresses[0].contains("#") {
        let all = (0..<9).map { number in
          let address = addresses[number % addresses.count].replacing("#", with: "\(number)")
          return said.left(
            of: item(
              "The news", guid: hasGuid ? address : nil, address, at: Int64(number) * hours * Self.hour,
              duration: 180, length: 400_000 + (hasGuid ? Int64(number) : 0)))
        }
        if hasGuid, addresses.count == 1, said.isDisjoint(with: .lengths), hours < 24 { continue }
        #expect(grown(all.map { [$0] }) == all, "each \(hours) hours, guids: \(hasGuid)")
      }
    }
  }

  /// Three at a time of six addresses, while the others are as they were.
  @Test(arguments: Said.all, [false, true])
  func addressesThatComeAgainWithinHoursNameNothing(said: Said, hasGuid: Bool) {
    let all = (0..<20).map { number in
      let address = "https://m.example/news-\(number % 6).mp3"
      return said.left(
        of: item(
          "The news", guid: hasGuid ? address : nil, address, at: Int64(number) * Self.hour, duration: 180,
          length: 400_000 + Int64(number)))
    }
    #expect(grown((3...20).map { Array(all[($0 - 3)..<$0]) }) == all)
  }
}
