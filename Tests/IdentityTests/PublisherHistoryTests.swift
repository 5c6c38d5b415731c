import Identity
import PodcastModel
import TestSupport
import Testing

/// Small publishers, followed from one refresh to the next: as many episodes as there are, under their own names.
@Suite struct PublisherHistoryTests {
  private static let hour = PublisherHistory.hour
  private static let day = PublisherHistory.day
  private static let words = [
    "storm", "harvest", "election", "football", "bridge", "winter", "garden", "music",
  ]

  private func expectOwn(_ history: PublisherHistory, _ comment: String = "") {
    let expected = PublisherHistory.Outcome(known: history.episodes)
    #expect(history.outcome == expected, "\(history) \(comment)")
  }

  private static let titles: [@Sendable (Int) -> String] = [
    { _ in "The news" }, { "About \(words[$0])" }, { "News of \($0 + 1) January" },
  ]

  // MARK: One item at a time

  /// A file that is made anew for each edition, whatever its name, with a guid that is the feed's or none.
  @Test(
    arguments: ["harbour-lights.mp3", "show.mp3", "the-daily-programme.mp3?format=mp3", "latest.mp3?id=7"],
    [nil, "the-show", "https://m.example/", "1"])
  func editionsAtOneAddressAreEpisodes(file: String, guid: String?) {
    for (index, title) in Self.titles.enumerated() {
      for gap in [Self.day, 7 * Self.day] {
        for duration in [nil, 300, 1000] {
          for hasLength in [false, true] where hasLength || duration != 1000 {
            expectOwn(
              PublisherHistory(file, at: { _, _ in "https://m.example/audio/\(file)" }).with {
                $0.gap = gap
                $0.title = title
                $0.guid = { _ in guid }
                $0.duration = { number in duration.map { $0 == 300 ? 300 : $0 + number * 37 } }
                $0.length = { hasLength ? 400_000 + Int64($0) : nil }
              }, "\(index), \(gap), \(duration ?? 0), \(hasLength)")
          }
        }
      }
    }
  }

  /// Where titles are others, also each hour, and whatever the guid looks like.
  @Test(arguments: ["the-show", "3f9a1c22-8d1b-4f3e-9b1c-0a1b2c3d4e5f"], [1, 12, 24])
  func editionsWithTitlesOfTheirOwnAreEpisodesWhateverTheirGuid(guid: String, hours: Int64) {
    let addresses: [@Sendable (Int, Int) -> String] = [
      { _, _ in "https://m.example/harbour-lights.mp3" }, { number, _ in "https://m.example/?id=\(number)" },
      { number, _ in "https://m.example/a.mp3?zz=\(PublisherHistory.token(number, 0))" },
    ]
    for (index, address) in addresses.enumerated() {
      expectOwn(
        PublisherHistory("titles of their own", at: address).with {
          $0.gap = hours * Self.hour
          $0.title = Self.titles[1]
          $0.guid = { _ in guid }
          $0.duration = { _ in 300 }
        }, "\(index)")
    }
  }

  /// Each edition has a guid of its own, and nothing else: not even a date.
  @Test(arguments: [nil, 24, 168] as [Int64?])
  func editionsWithGuidsOfTheirOwnAreEpisodes(hours: Int64?) {
    for (index, title) in Self.titles.enumerated() {
      expectOwn(
        PublisherHistory("guids", at: { _, _ in "https://m.example/harbour-lights.mp3" }).with {
          $0.gap = hours.map { $0 * Self.hour }
          $0.title = title
          $0.guid = { "g\($0)" }
          $0.length = { 400_000 + Int64($0) }
        }, "\(index)")
    }
  }

  /// The feed's guid, one title, five minutes each; a parameter of the address is another.
  @Test(arguments: ["id", "episode", "zz"], [1, 3])
  func editionsThatDifferInAParameterAloneAreEpisodes(key: String, window: Int) {
    for days in [1, 7] as [Int64] {
      for isNumber in [true, false] {
        expectOwn(
          PublisherHistory(
            key,
            at: { number, _ in
              let value = isNumber ? "\(number + 1)" : PublisherHistory.token(number, 0)
              return "https://m.example/play.mp3?\(key)=\(value)"
            }
          ).with {
            $0.window = window
            $0.gap = days * Self.day
            $0.guid = { _ in "the-show" }
            $0.duration = { _ in 300 }
          }, "\(days), \(isNumber)")
      }
    }
  }

  /// The last one's date has been corrected to the very time at which another one comes.
  @Test(arguments: [1, 3] as [Int64])
  func anEditionAtTheTimeOfTheLastIsAnEpisodeWhereItsGuidSaysSo(days: Int64) {
    var history = PublisherHistory("the same time") { number, _ in
      "https://m.example/\(number * 31)/audio.mp3"
    }
    history.gap = Self.day / 2
    history.episodes = 12
    history.guid = { "g\($0)" }
    history.duration = { _ in 300 }
    history.change = { answer, items in
      guard answer == 7 else { return }
      for place in items.indices {
        items[place].published = items[place].published.map { $0 + days * Self.day }
      }
    }
    expectOwn(history)
  }

  // MARK: The day alone

  /// All editions of a day are dated by its midnight, wherever that is; titles, or else guids, are their own.
  @Test(arguments: [0, -1, 5] as [Int64], [true, false])
  func editionsThatAreDatedByTheDayAloneAreEpisodes(zone: Int64, hasGuids: Bool) {
    let addresses: [@Sendable (Int, Int) -> String] = [
      { number, _ in "https://m.example/2026/11/22/\(900 + number * 100).mp3" },
      { number, _ in "https://m.example/play.mp3?sid=\(PublisherHistory.token(number, 0))" },
      { _, _ in "https://m.example/harbour-lights.mp3" },
    ]
    let midnight = Self.midnight + zone * Self.hour
    // At one address, without a guid, a title may have been corrected at another time than midnight in UTC.
    for (index, address) in addresses.enumerated() where index < 2 || zone == 0 || hasGuids {
      for title in [Self.titles[1], Self.clock] {
        for duration in [nil, 300] {
          for length in [nil, 4_800_000] as [Int64?] {
            var history = PublisherHistory("the day alone", at: address)
            history.title = title
            history.guid = { hasGuids ? "https://m.example/?p=\($0 + 61)" : nil }
            history.duration = { _ in duration }
            history.length = { _ in length }
            history.change = { _, items in for place in items.indices { items[place].published = midnight } }
            expectOwn(history, "\(index), \(title(0)), \(duration ?? 0), \(length ?? 0)")
          }
        }
      }
    }
  }

  private static let midnight = PublisherHistory.start / day * day
  private static let clock: @Sendable (Int) -> String = { "News at \($0 + 9):00" }

  @Test(arguments: [true, false])
  func editionsOfOneTitleThatAreDatedByTheDayAloneAreEpisodes(hasGuids: Bool) {
    for duration in [nil, 300] {
      var history = PublisherHistory("the day alone") { number, _ in
        "https://m.example/2026/11/22/\(900 + number * 100).mp3"
      }
      history.guid = { hasGuids ? "news-20261122-\(900 + $0 * 100)" : nil }
      history.duration = { _ in duration }
      history.length = { _ in duration.map { _ in 4_800_000 } }
      history.change = { _, items in for place in items.indices { items[place].published = Self.midnight } }
      expectOwn(history)
    }
  }

  /// Of a feed that shows one item and dates it by the day alone.
  @Test func whatIsCorrectedOfTheDaysEpisodeLeavesItTheSame() {
    var known = ItemTraits(address: "https://m.example/ep1.mp3", title: "Storm at sea")
    known.published = Self.midnight
    known.duration = 1800
    var (uploaded, named, signed) = (known, known, known)
    uploaded.address = "https://m.example/ep1-fixed.mp3"
    named.title = "What the harbour said"
    signed.address = "https://m.example/ep1.mp3?zz=3f9a81c2"
    var retitled = signed
    retitled.title = named.title
    for one in [uploaded, named, signed] {
      #expect(IdentityEngine.decide([one], known: [known]).map(\.place) == [0], "\(one)")
    }
    #expect(IdentityEngine.decide([retitled], known: [signed]).map(\.place) == [0])
    var latest = known
    latest.address = "https://m.example/latest.mp3"
    latest.guid = "the-show"
    var other = latest
    other.title = named.title
    #expect(IdentityEngine.decide([other], known: [latest]).map(\.place) == [0])
    (known.guid, named.guid) = ("a", "b")
    #expect(IdentityEngine.decide([named], known: [known]).map(\.place) == [0])
  }

  // MARK: Slots

  /// The morning's and the evening's edition, each at its own address, today's in the place of yesterday's.
  @Test(
    arguments: [
      ["morning", "evening"], ["morgenmagazin-am-montag", "abendmagazin-am-montag"], ["a", "b", "c"],
    ], [true, false])
  func slotsCarryOneEditionAfterAnother(names: [String], areTogether: Bool) {
    let count = names.count
    let guids: [@Sendable (Int) -> String?] = [
      { _ in nil }, { names[$0 % count] }, { "https://m.example/\(names[$0 % count]).mp3" },
    ]
    let titles: [@Sendable (Int) -> String] = [{ "The \(names[$0 % count]) news" }, Self.titles[1]]
    for hasLength in [false, true] {
      for guid in guids {
        for title in titles {
          var history = PublisherHistory("slots") { number, _ in
            "https://m.example/\(names[number % count]).mp3"
          }
          history.window = areTogether ? count : 1
          history.gap = Self.day / Int64(count)
          history.title = title
          history.guid = guid
          history.length = { hasLength ? 400_000 + Int64($0) : nil }
          expectOwn(history, "\(guid(0) ?? "no guids"), \(title(1)), \(hasLength)")
        }
      }
    }
  }

  // MARK: Tokens

  private static let tokens: [@Sendable (Int, Int) -> String] = [
    { "https://m.example/t/\(PublisherHistory.token($0, $1))/ep\($0).mp3" },
    { "https://m.example/ep\($0).mp3?zz=\(PublisherHistory.token($0, $1))" },
    { "https://m.example/t/\(PublisherHistory.token(0, $1))/audio/ep\($0).mp3?x=\(1_700_000_000 + $1)" },
    { "https://m.example/r/\(PublisherHistory.token($0, $1))" },
  ]

  /// Each answer has other addresses, and the items hardly anything else.
  @Test(arguments: 0..<4, [1, 3, 8])
  func tokensInAnAddressDoNotDoubleAnArchive(kind: Int, window: Int) {
    for hours in [nil, 1, 24, 168] as [Int64?] {
      for (index, title) in Self.titles.enumerated() {
        // All that is left of the last kind without dates is a title, which others must not have, and of one item it is
        // not enough.
        if hours == nil, kind == 3, index == 0 || window == 1 { continue }
        expectOwn(
          PublisherHistory("tokens", at: Self.tokens[kind]).with {
            $0.window = window
            $0.gap = hours.map { $0 * Self.hour }
            $0.title = title
          }, "\(hours ?? 0) hours, titles \(index)")
      }
    }
  }

  // MARK: Made anew

  /// The same host, other software: new guids and new addresses, for all that there has been.
  @Test(arguments: [1, 24, 168] as [Int64], [3, 8])
  func aSiteThatIsMadeAnewKeepsItsArchive(hours: Int64, window: Int) {
    for (index, title) in Self.titles.enumerated() {
      // The last hours of one title may as well be others, by another clock.
      if index == 0, hours == 1, window == 3 { continue }
      for hasGuids in [true, false] {
        for isImported in [false, true] where !isImported || index == 1 && hours == 168 {
          var history = PublisherHistory("relaunch") { number, _ in
            "https://m.example/audio/\(number * 7).mp3"
          }
          history.window = window
          history.gap = hours * Self.hour
          history.title = title
          history.guid = { hasGuids ? "https://m.example/?p=\($0)" : nil }
          // The last answer, which says nothing new.
          let last = (history.episodes - window) * 2 + 1
          history.change = { answer, items in
            guard answer == last else { return }
            for place in items.indices {
              items[place].address = WebAddress(
                "https://m.example/wp/\(items[place].published ?? 0)-show.mp3")
              items[place].guid = items[place].guid.map { "new \($0)" }
              if isImported {
                items[place].published = PublisherHistory.start + 400 * Self.day + Int64(place)
              }
            }
          }
          expectOwn(history, "\(index), \(hasGuids), \(isImported)")
        }
      }
    }
  }
}
