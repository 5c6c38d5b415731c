import Identity
import PodcastModel
import TestSupport
import Testing

/// Shows that have moved to another host: guids and addresses are all others, and hardly anything else is told.
@Suite struct MovedShowTests {
  static let hour: Int64 = 3600
  static let day: Int64 = 86_400
  static let start: Int64 = 1_704_276_000  // 2024-01-03 10:00

  private func item(_ title: String, _ host: String, _ number: Int, at time: Int64?) -> ItemTraits {
    var traits = ItemTraits(
      address: WebAddress("https://\(host).example/\(host == "old" ? "a" : "b")\(number).mp3"), title: title)
    traits.guid = "\(host)-\(number)"
    traits.published = time.map { Self.start + $0 }
    return traits
  }

  private func withoutGuids(_ items: [ItemTraits]) -> [ItemTraits] {
    items.map { one in
      var one = one
      one.guid = nil
      return one
    }
  }

  /// Also in other orders of the document, of which nothing may depend.
  private func places(_ items: [ItemTraits], _ known: [ItemTraits]) -> [Int?] {
    let decided = IdentityEngine.decide(items, known: known).map(\.place)
    let reversed = IdentityEngine.decide(items.reversed(), known: known).map(\.place)
    #expect(reversed.reversed() == decided)
    return decided
  }

  private static let words = [
    "storm", "harvest", "election", "football", "bridge", "winter", "garden", "music", "trains", "salt",
    "letters", "coffee", "stone", "rivers", "maps", "bread", "glass", "wolves", "paper", "silence",
  ]

  // MARK: Titles that repeat

  /// Seconds by which the new host's times differ, for each episode.
  enum Clock: String, CaseIterable {
    case same, behind, summerTime, midnight
    func time(_ time: Int64, _ number: Int) -> Int64 {
      switch self {
      case .same: time
      case .behind: time - 5 * MovedShowTests.hour
      case .summerTime: time + (number < 25 ? 1 : 2) * MovedShowTests.hour
      case .midnight: time - (MovedShowTests.start + time) % MovedShowTests.day
      }
    }
  }

  @Test(arguments: Clock.allCases, [1, 7])
  func episodesOfOneTitleAreToldApartByTheirDays(clock: Clock, days: Int64) {
    let times = (0..<50).map { Int64($0) * days * Self.day }
    let known = times.enumerated().map { item("Update", "old", $0, at: $1) }
    let moved = times.enumerated().map { item("Update", "new", $0, at: clock.time($1, $0)) }
    #expect(places(moved, known) == Array(0..<50))
    // What has come since the move is new.
    let next = item("Update", "new", 50, at: 50 * days * Self.day)
    #expect(places(moved + [next], known) == Array(0..<50) + [nil])
    // Also where only the last are shown, or few of them were known.
    #expect(places(Array(moved.suffix(10)), known) == Array(40..<50))
    #expect(places(moved, Array(known.suffix(10))) == Array(repeating: nil, count: 40) + Array(0..<10))
    // Without guids, before or after.
    #expect(places(withoutGuids(moved), known) == Array(0..<50))
    #expect(places(moved, withoutGuids(known)) == Array(0..<50))
  }

  @Test func twoADayWithTitlesOfTheirOwnAreKnownInAnotherTimeZone() {
    let times = (0..<20).map { Int64($0) * Self.day / 2 }
    let known = times.enumerated().map { item("About \(Self.words[$0])", "old", $0, at: $1) }
    let moved = times.enumerated().map { item("About \(Self.words[$0])", "new", $0, at: $1 + 9 * Self.hour) }
    #expect(places(moved, known) == Array(0..<20))
  }

  /// A morning's and an evening's edition: by what all are behind. (Ten hours later may be fourteen earlier.)
  @Test(arguments: [-9, -5, 1, 6, 9], [[7, 17], [6, 13, 18], [7, 8]])
  func editionsOfOneTitleAreKnownInAnotherTimeZone(offset: Int64, hours: [Int64]) {
    let times = (0..<10).flatMap { day in hours.map { Int64(day) * Self.day + $0 * Self.hour } }
    let count = times.count
    let known = times.enumerated().map { item("Update", "old", $0, at: $1) }
    let moved = times.enumerated().map { item("Update", "new", $0, at: $1 + offset * Self.hour) }
    // Two within an hour are taken for one another.
    if hours[1] - hours[0] <= 1 {
      #expect(places(moved, known) == Array(repeating: nil, count: count))
      return
    }
    #expect(places(moved, known) == Array(0..<count))
    // Where only the last are shown, or few were known; and without guids.
    #expect(places(Array(moved.suffix(8)), known) == Array((count - 8)..<count))
    #expect(
      places(moved, Array(known.suffix(8))) == Array(repeating: nil, count: count - 8) + Array(0..<8))
    #expect(places(withoutGuids(moved), known) == Array(0..<count))
    // With summer time in between.
    let summer = moved.enumerated().map { index, one in
      var one = one
      if index >= count / 2 { one.published = one.published.map { $0 + Self.hour } }
      return one
    }
    #expect(places(summer, known) == Array(0..<count))
  }

  /// At even intervals it may be the one or the next; but not where they are not equally long.
  @Test func evenIntervalsInAnotherTimeZoneAreToldByDurations() {
    let times = (0..<20).map { Int64($0) * 6 * Self.hour }
    let feeds = [("old", Int64(0)), ("new", 2 * Self.hour)].map { host, offset in
      times.enumerated().map { number, time in
        var one = item("Update", host, number, at: time + offset)
        one.duration = 300 + number * 7919 % 20 * 40 + (host == "new" ? 1 : 0)
        return one
      }
    }
    #expect(places(feeds[1], feeds[0]) == Array(0..<20))
    let without = feeds.map { feed in
      feed.map { one in
        var one = one
        one.duration = nil
        return one
      }
    }
    #expect(places(without[1], without[0]) == Array(repeating: nil, count: 20))
  }

  static let editions: [[Int64]] = [
    [7], [7, 17], [6, 18], [0, 10, 20], [0, 7, 14], [6, 13, 18], [0, 6, 12, 18], [0, 5, 10, 15, 20],
    (0..<24).map { $0 },
  ]

  /// Where the clock of the new host is behind by just what lies between two editions, each has the time that another had.
  /// One that is told wrongly is worse than one that is not told.
  @Test(arguments: editions, [false, true])
  func noneIsTakenForAnotherInWhateverTimeZone(hours: [Int64], hasDuration: Bool) {
    // Never midnight, which is the day alone.
    let times = (0..<Int64(max(2, 8 / hours.count))).flatMap { day in
      hours.map { day * Self.day + $0 * Self.hour + 1200 }
    }
    for (hasGuids, isElsewhere) in [(true, true), (false, true), (false, false)] {
      func feed(_ host: String, _ offset: Int64) -> [ItemTraits] {
        times.enumerated().map { number, time in
          var one = item("Update", isElsewhere ? host : "same", number, at: time + offset)
          one.address = WebAddress("\(one.address.forRequest)?\(host)\(number)")
          one.guid = hasGuids ? "\(host)-\(number)" : nil
          one.duration = hasDuration ? 300 : nil
          return one
        }
      }
      let known = feed("old", 0)
      for offset in [-14, -10, -7, -6, -5, 0, 4, 5, 6, 7, 10, 12] {
        let moved = feed("new", Int64(offset) * Self.hour)
        for first in [0, times.count / 2] {
          let found = IdentityEngine.decide(Array(moved[first...]), known: known).map(\.place)
          let wrong = found.enumerated().filter { $1 != nil && $1 != $0 + first }
          #expect(
            wrong.isEmpty, "by \(offset) hours, from \(first), guids: \(hasGuids), elsewhere: \(isElsewhere)")
        }
      }
    }
  }

  /// The next days of a programme that comes several times a day, on another host.
  @Test(arguments: [[7, 17], [6, 13, 18], [0, 6, 12, 18], [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]])
  func editionsThatFollowAreNew(hours: [Int64]) {
    let times = (0..<8).flatMap { day in hours.map { Int64(day) * Self.day + $0 * Self.hour } }
    let known = times.enumerated().map { item("Update", "old", $0, at: $1) }
    for offset in [0, 2 * Self.hour] {
      let next = times.enumerated().map { item("Update", "new", $0 + 900, at: $1 + 8 * Self.day + offset) }
      #expect(places(next, known) == Array(repeating: nil, count: times.count))
    }
  }

  /// The clock is the same, to the second: all are the same by that, and by no other as many.
  @Test(arguments: [[6, 18], [0, 6, 12, 18], [7, 17], [0, 8, 16]])
  func editionsOfOneTitleAreKnownByTheSameClock(hours: [Int64]) {
    let times = (0..<10).flatMap { day in hours.map { Int64(day) * Self.day + $0 * Self.hour + 1200 } }
    let known = times.enumerated().map { item("Update", "old", $0, at: $1) }
    let moved = times.enumerated().map { item("Update", "new", $0, at: $1) }
    #expect(places(moved, known) == Array(0..<times.count))
    #expect(places(withoutGuids(moved), known) == Array(0..<times.count))
    #expect(places(moved, withoutGuids(known)) == Array(0..<times.count))
  }

  @Test func twoOfOneTitleADayAtEvenIntervalsInAnotherTimeZoneAreNotTold() {
    let times = (0..<20).map { Int64($0) * Self.day / 2 }
    let known = times.enumerated().map { item("Update", "old", $0, at: $1) }
    let moved = times.enumerated().map { item("Update", "new", $0, at: $1 + 6 * Self.hour) }
    #expect(places(moved, known) == Array(repeating: nil, count: 20))
  }

  // MARK: Dates of the import

  /// - Parameter since: how many episodes have come since the import.
  @Test(arguments: [0, 2])
  func aHostThatDatesAllByTheirImportHasTheSameEpisodes(since: Int) {
    let known = (0..<18).map { item(Self.words[$0], "old", $0, at: Int64($0) * 7 * Self.day) }
    let imported = (0..<18).map { item(Self.words[$0], "new", $0, at: 200 * Self.day + Int64(17 - $0) * 40) }
    let later = (18..<(18 + since)).map {
      item(Self.words[$0], "new", $0, at: 200 * Self.day + Int64($0) * 7 * Self.day)
    }
    #expect(places(imported + later, known) == Array(0..<18) + Array(repeating: nil, count: since))
    // Or that says no dates at all.
    let undated = imported.map { one in
      var one = one
      one.published = nil
      return one
    }
    #expect(places(undated, known) == Array(0..<18))
    // Few of them were known.
    #expect(
      places(imported, Array(known.suffix(4))) == Array(repeating: nil, count: 14) + Array(0..<4))
  }

  @Test func anotherShowsImportIsNew() {
    let known = (0..<10).map { item(Self.words[$0], "old", $0, at: Int64($0) * 7 * Self.day) }
    let other = (5..<20).map { item(Self.words[$0], "new", $0, at: 200 * Self.day + Int64($0)) }
    #expect(places(other, known) == Array(repeating: nil, count: 15))
  }

  // MARK: Titles with more or less around them

  @Test(
    arguments: [
      ("Ep. #: ", ""), ("Harbour Lights – ", ""), ("", " | Harbour Lights"), ("S1 E# - ", ""), ("", " (#)"),
      ("Ep. #: ", " | Harbour Lights"), ("#. ", " (Harbour Lights #)"),
    ], Clock.allCases)
  func titlesThatAllGetOrLoseTheSameAreTheSame(affix: (String, String), clock: Clock) {
    let times = (0..<20).map { Int64($0) * 3 * Self.day }
    func named(_ number: Int) -> String {
      (affix.0 + Self.words[number] + affix.1).replacing("#", with: "\(number + 3)")
    }
    let short = times.enumerated().map { item(Self.words[$0], "old", $0, at: $1) }
    let long = times.enumerated().map { item(named($0), "new", $0, at: clock.time($1, $0)) }
    #expect(places(long, short) == Array(0..<20))
    #expect(places(short, long) == Array(0..<20))
  }

  /// The one host puts something before the titles, the other behind them.
  @Test(arguments: Clock.allCases, [false, true])
  func titlesThatGetSomethingBehindThemForWhatWasBeforeAreTheSame(clock: Clock, isLonger: Bool) {
    let times = (0..<20).map { Int64($0) * 3 * Self.day }
    func title(_ number: Int) -> String { isLonger ? "About \(Self.words[number])" : Self.words[number] }
    let known = times.enumerated().map { item("Ep. \($0 + 1): \(title($0))", "old", $0, at: $1) }
    let moved = times.enumerated().map {
      item("\(title($0)) | Harbour Lights", "new", $0, at: clock.time($1, $0))
    }
    #expect(places(moved, known) == Array(0..<20))
    #expect(places(known, moved) == Array(0..<20))
  }

  @Test func titlesThatGetMoreAroundThemAreKnownInSpiteOfTheDatesOfAnImport() {
    let known = (0..<20).map { item("\($0 + 1). \(Self.words[$0])", "old", $0, at: Int64($0) * 7 * Self.day) }
    let moved = (0..<20).map { item(Self.words[$0], "new", $0, at: 200 * Self.day + Int64($0)) }
    #expect(places(moved, known) == Array(0..<20))
  }

  // MARK: What is not the same

  /// Each year's calendar has the titles of the last.
  @Test(arguments: ["old", "new"], ["Door", "December"])
  func nextYearsCalendarIsNew(host: String, word: String) {
    let known = (0..<24).map { item("\(word) \($0 + 1)", "old", $0, at: Int64($0) * Self.day) }
    let next = (0..<24).map { item("\(word) \($0 + 1)", host, $0 + 100, at: Int64($0 + 365) * Self.day) }
    #expect(places(next, known) == Array(repeating: nil, count: 24))
  }

  @Test func aSeasonThatComesAllAtOnceOnTheSameHostIsNew() {
    let known = (0..<12).map { item("Chapter \($0 + 1)", "old", $0, at: Int64($0) * 7 * Self.day) }
    let next = (0..<12).map { item("Chapter \($0 + 1)", "old", $0 + 100, at: 300 * Self.day + Int64($0)) }
    #expect(places(next, known) == Array(repeating: nil, count: 12))
  }

  @Test func aSeasonOfOtherLengthOnAnotherHostIsNew() {
    func season(_ host: String, _ seconds: Int, at time: (Int) -> Int64) -> [ItemTraits] {
      (0..<12).map { number in
        var one = item("Chapter \(number + 1)", host, number, at: time(number))
        one.duration = seconds + number * 60
        return one
      }
    }
    let known = season("old", 1000) { Int64($0) * 7 * Self.day }
    let next = season("new", 3000) { 300 * Self.day + Int64($0) }
    #expect(places(next, known) == Array(repeating: nil, count: 12))
  }

  /// The last three of an hourly programme, some hours later.
  @Test(arguments: ["old", "new"], [1, 3, 12])
  func theLastBulletinsAreOthersThanThoseBefore(host: String, hours: Int64) {
    let known = (0..<3).map { item("The News", "old", $0, at: Int64($0) * Self.hour) }
    let next = (0..<3).map { item("The News", host, $0 + 100, at: (Int64($0) + hours) * Self.hour + 60) }
    #expect(places(next, known) == [nil, nil, nil])
  }

  /// The late edition of one day and the early one of the next are near each other.
  @Test func aDailyUpdateAtAnotherHourThatFollowsIsNew() {
    let known = (0..<5).map { item("Update", "old", $0, at: Int64($0) * Self.day + 12 * Self.hour) }
    let next = (5..<10).map { item("Update", "new", $0, at: Int64($0) * Self.day - 2 * Self.hour) }
    #expect(places(next, known) == Array(repeating: nil, count: 5))
  }

  @Test func wordsBeforeTheTitlesOfEpisodesOfTheSameHostMakeOthers() {
    let known = (0..<6).map { item(Self.words[$0], "old", $0, at: Int64($0) * Self.day) }
    let more = (0..<6).map {
      item("Behind the scenes: \(Self.words[$0])", "old", $0 + 100, at: Int64($0) * Self.day + 60)
    }
    #expect(places(more, known) == Array(repeating: nil, count: 6))
  }

  @Test func aFewAreTooFewToTell() {
    let known = (0..<2).map { item("Update", "old", $0, at: Int64($0) * 7 * Self.day) }
    let moved = (0..<2).map { item("Update", "new", $0, at: Int64($0) * 7 * Self.day - Self.hour) }
    #expect(places(moved, known) == [nil, nil])
  }

  // MARK: Cost

  /// Ten thousand of one title and time, and ten thousand that are told apart.
  @Test func tenThousandMoveAtOnce() {
    let count = Sanitizer.isOn ? 1000 : 10_000
    for (days, expected) in [(0, Array(repeating: nil, count: count)), (1, Array(0..<count))] {
      let feeds = ["old", "new"].map { host in
        (0..<count).map { item("Update", host, $0, at: Int64($0 * days) * Self.day) }
      }
      #expect(IdentityEngine.decide(feeds[1], known: feeds[0]).map(\.place) == expected)
    }
  }
}
