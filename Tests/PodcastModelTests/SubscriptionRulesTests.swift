import PodcastModel
import Testing

struct SubscriptionRulesTests {
  private let now: Int64 = 1_780_000_000

  private func rules(_ pairs: [SubscriptionRules.Key: String]) throws -> SubscriptionRules {
    var rules = SubscriptionRules()
    for (key, value) in pairs { try rules.set(key, to: value) }
    return rules
  }

  @Test(arguments: [
    (SubscriptionRules.Key.autoDownload, "0", "0"), (.autoDownload, "5", "5"), (.autoDownload, "14d", "14d"),
    (.autoDownload, "2w", "14d"), (.autoDownload, "all", "all"), (.autoOrder, "next", "next"),
    (.include, "fog \"night watch\"", "fog \"night watch\""), (.exclude, "rerun", "rerun"),
    (.minDuration, "10m", "10m"), (.minDuration, "90", "90s"),
    (.maxDuration, "1h", "1h"), (.kinds, "Full, bonus", "full,bonus"), (.afterPlayed, "keep", "keep"),
    (.afterPlayed, "drop", "drop"), (.afterPlayed, "drop:2d", "drop:2d"), (.notify, "1", "1"),
  ])
  func aRuleIsReadAndWritten(key: SubscriptionRules.Key, value: String, text: String) throws {
    var rules = try rules([key: value])
    #expect(rules.text(key) == text)
    let written = rules
    try rules.set(key, to: text)
    #expect(rules == written)
    try rules.set(key, to: " ")
    #expect(rules == SubscriptionRules())
  }

  @Test(arguments: [
    (SubscriptionRules.Key.autoDownload, "-1"), (.autoDownload, "five"), (.autoDownload, "1.5"),
    (.autoOrder, "oldest"),
    (.include, "..."), (.minDuration, "soon"), (.kinds, "full, other"), (.afterPlayed, "drop:"),
    (.afterPlayed, "drop:x"),
    (.notify, "yes"),
  ])
  func aWrongValueChangesNothing(key: SubscriptionRules.Key, value: String) {
    var rules = SubscriptionRules()
    #expect(throws: SubscriptionRules.Malformed.self) { try rules.set(key, to: value) }
    #expect(rules == SubscriptionRules())
  }

  @Test func aRuleThatIsNotSetIsTheDefault() throws {
    let defaults = try rules([.autoDownload: "3", .notify: "0", .exclude: "rerun"])
    let own = try rules([.autoDownload: "0", .maxDuration: "1h"])
    #expect(
      own.completed(by: defaults)
        == (try rules([.autoDownload: "0", .notify: "0", .exclude: "rerun", .maxDuration: "1h"])))
  }

  /// Episodes 1, 2, … a day apart, the last of them published now.
  private func episodes(_ count: Int, _ change: (inout RuledEpisode) -> Void = { _ in }) -> [RuledEpisode] {
    (1...count).map { number in
      let facts = EpisodeFacts(
        id: Int64(number), title: "Part \(number)", show: "S", published: now - Int64(count - number) * 86_400
      )
      var episode = RuledEpisode(facts, key: MediaKey(address: WebAddress("http://a.example/\(number)")))
      change(&episode)
      return episode
    }
  }

  private func downloaded(_ rules: SubscriptionRules, _ episodes: [RuledEpisode], isSerial: Bool = false)
    -> [Int64]
  {
    zip(episodes, rules.decide(episodes, isSerial: isSerial, now: now)).filter { $0.1 == .download }.map(
      \.0.facts.id)
  }

  @Test func withoutARuleNothingIsDownloaded() {
    #expect(downloaded(SubscriptionRules(), episodes(3)).isEmpty)
  }

  @Test(arguments: [
    ("2", [4, 5]), ("2d", [3, 4, 5]), ("all", [1, 2, 3, 4, 5]), ("9", [1, 2, 3, 4, 5]), ("0", []),
  ])
  func theAmountDecides(amount: String, expected: [Int64]) throws {
    #expect(downloaded(try rules([.autoDownload: amount]), episodes(5)) == expected)
  }

  @Test func aPlayedEpisodeKeepsItsPlaceAmongTheNewest() throws {
    let played = episodes(5) { if $0.facts.id == 5 { $0.facts.marks = .played } }
    #expect(downloaded(try rules([.autoDownload: "2"]), played) == [4])
  }

  @Test func whatIsHiddenOrFilteredHoldsNoPlace() throws {
    let some = episodes(5) {
      if $0.facts.id == 5 { $0.facts.marks = .hidden }
      if $0.facts.id == 4 { $0.kind = .trailer }
      if $0.facts.id == 3 { $0.facts.duration = 60 }
    }
    let rules = try rules([.autoDownload: "2", .kinds: "full", .minDuration: "10m"])
    #expect(downloaded(rules, some) == [1, 2])
  }

  @Test(arguments: [
    ("part", "", [1, 2, 3]), ("2 3", "", [2, 3]), ("\"part 2\"", "", [2]), ("", "2", [1, 3]),
    ("part", "PART", []),
    ("par", "", []), ("", "\"2 part\"", [1, 2, 3]),
  ])
  func wordsOfTheTitleDecide(include: String, exclude: String, expected: [Int64]) throws {
    let all = try rules([.autoDownload: "all", .include: include, .exclude: exclude])
    #expect(downloaded(all, episodes(3)) == expected)
  }

  @Test func aSerialGoesOnAfterTheEpisodeThatWasPlayedLast() throws {
    let two = try rules([.autoDownload: "2"])
    #expect(downloaded(two, episodes(6), isSerial: true) == [1, 2])
    let played = episodes(6) {
      if $0.facts.id <= 3 {
        $0.facts.marks = .played
        $0.lastPlayed = now - 10 + $0.facts.id
      }
    }
    #expect(downloaded(two, played, isSerial: true) == [4, 5])
    #expect(downloaded(two, played) == [5, 6])
    let started = episodes(6) {
      if $0.facts.id == 3 {
        $0.facts.marks.insert(.begun)
        $0.lastPlayed = now - 10
      }
    }
    #expect(downloaded(two, started, isSerial: true) == [3, 4])
  }

  @Test func whatFallsOutIsDroppedWhereItCameByRule() throws {
    let cached = episodes(5) {
      $0.facts.download = .complete
      $0.mark = $0.facts.id != 2 ? .ordered : .byHand
      if $0.facts.id == 1 { $0.facts.marks = .kept }
    }
    let decisions = try rules([.autoDownload: "2"]).decide(cached, isSerial: false, now: now)
    #expect(
      decisions == [
        .leave(.isBeyondCount(2)), .leave(.isBeyondCount(2)), .drop(.isBeyondCount(2)), .download, .download,
      ])
    // A rule that is switched off drops nothing.
    let off = try rules([.autoDownload: "0"]).decide(cached, isSerial: false, now: now)
    #expect(off.allSatisfy { $0 == .leave(.noRule) })
  }

  @Test func whatWasPlayedIsDroppedAfterItsTime() throws {
    let played = episodes(4) {
      $0.facts.download = .complete
      $0.facts.marks = $0.facts.id == 2 ? [.played, .kept] : .played
      if $0.facts.id == 3 { $0.facts.queuePlace = 1 }
      $0.lastPlayed = $0.facts.id == 4 ? now - 86_400 : now - 3 * 86_400
    }
    let rules = try rules([.autoDownload: "all", .afterPlayed: "drop:2d"])
    #expect(
      rules.decide(played, isSerial: false, now: now) == [
        .drop(.playedAgo(3 * 86_400)), .leave(.isPlayed), .leave(.isPlayed), .leave(.isPlayed),
      ])
  }

  @Test func whoPlaysAnEpisodeAgainKeepsIt() throws {
    let again = episodes(1) {
      $0.facts.download = .complete
      $0.facts.marks = .played
      $0.facts.marks.insert(.begun)
      $0.lastPlayed = now - 86_400
    }
    let drop = try rules([.afterPlayed: "drop"])
    #expect(drop.decide(again, isSerial: false, now: now) == [.leave(.isPlayed)])
  }

  @Test func theNextMomentIsThatOfTheClock() throws {
    let some = episodes(3) {
      $0.facts.download = .complete
      $0.mark = .ordered
    }
    #expect(try rules([.autoDownload: "2"]).nextChange(of: some, after: now) == nil)
    #expect(try rules([.autoDownload: "36h"]).nextChange(of: some, after: now) == now + 12 * 3600 + 1)
    let played = episodes(1) {
      $0.facts.download = .complete
      $0.facts.marks = .played
      $0.lastPlayed = now - 3600
    }
    #expect(try rules([.afterPlayed: "drop:1d"]).nextChange(of: played, after: now) == now + 23 * 3600)
  }

  @Test func aYearOfADailyShowKeepsTheNewestFive() throws {
    let rules = try rules([.autoDownload: "5", .afterPlayed: "drop"])
    var all: [RuledEpisode] = []
    for day in 0..<365 {
      let time = now + Int64(day) * 86_400
      let facts = EpisodeFacts(id: Int64(day), title: "Day \(day)", show: "S", published: time)
      all.append(RuledEpisode(facts, key: MediaKey(address: WebAddress("http://a.example/\(day)"))))
      for (place, decision) in rules.decide(all, isSerial: false, now: time).enumerated() {
        switch decision {
        case .download:
          all[place].facts.download = .complete
          all[place].mark = .ordered
        case .drop: all[place].facts.download = .absent
        case .leave: break
        }
      }
      let complete = all.filter { $0.facts.download == .complete }.map(\.facts.id)
      let played = all.filter { $0.facts.marks.contains(.played) }.count
      #expect(complete.allSatisfy { $0 > Int64(day) - 5 } && complete.count <= 5)
      #expect(complete.count >= min(5, day + 1) - min(played, 2))
      // The listener hears one of three.
      if day % 3 == 0 {
        all[day].facts.marks = .played
        all[day].lastPlayed = time
      }
    }
  }
}
