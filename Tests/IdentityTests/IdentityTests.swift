import Identity
import PodcastModel
import TestSupport
import Testing

/// Cases of real feeds, each with what must become of it.
@Suite struct IdentityTests {
  static let day: Int64 = 86_400
  static let start: Int64 = 1_704_276_000  // 2024-01-03 10:00

  /// An item as a feed's template makes it.
  private func item(
    _ title: String = "", guid: String? = nil, _ address: String = "https://m.example/1.mp3",
    at time: Int64? = nil,
    duration: Int? = nil, length: Int64? = nil, number: Int? = nil
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
    IdentityEngine.decide(items, known: known).map(\.place)
  }

  // MARK: Rolling feeds

  /// Each hour's news: all but what is given is the same.
  @Test(
    arguments: [
      ["https://m.example/play.mp3?sid=1", "https://m.example/play.mp3?sid=2"],
      ["https://m.example/play.mp3?token=1", "https://m.example/play.mp3?token=2"],
      ["https://m.example/bulletin-1.mp3", "https://m.example/bulletin-2.mp3"],
      ["https://m.example/latest.mp3", "https://m.example/latest.mp3"],
    ], [1, 12])
  func whatShowsOneItemAtATimeShowsAnotherEachTime(addresses: [String], hours: Int64) {
    for guids in [["a", "b"], [nil, nil]] as [[String?]] {
      let one = item("The News", guid: guids[0], addresses[0], at: 0, duration: 300, length: 400_000)
      let next = item(
        "The News", guid: guids[1], addresses[1], at: hours * 3600, duration: 300, length: 400_001)
      #expect(places([next], [one]) == [nil], "\(addresses) \(hours) \(guids)")
    }
  }

  /// Behind the same tracker, or on the same host by new addresses.
  @Test(arguments: ["https://dts.podtrac.com/redirect.mp3/new.example/b", "https://old.example/c"])
  func aShowWhoseTitlesRepeatIsNotDoubledWhereItMoves(place: String) {
    let known = (0..<12).map { week in
      item(
        "The Weekly Show", guid: "old-\(week)",
        "https://dts.podtrac.com/redirect.mp3/old.example/a\(week).mp3",
        at: Int64(week) * 7 * Self.day, duration: 1800 + week * 100)
    }
    let moved = (0..<12).map { week in
      item(
        "The Weekly Show", guid: "new-\(week)", "\(place)\(week).mp3", at: Int64(week) * 7 * Self.day,
        duration: 1800 + week * 100)
    }
    #expect(places(moved, known) == Array(0..<12))
  }

  @Test func aHostThatSaysTheDayAloneMeansTheSameEpisodes() {
    let known = (0..<10).map { week in
      item(
        "Episode \(week)", guid: "o\(week)", "https://old.example/\(week)a.mp3",
        at: Int64(week) * 7 * Self.day + 46_800)
    }
    let moved = known.indices.map { week in
      var one = item("Episode \(week)", guid: "n\(week)", "https://new.example/\(week)b.mp3")
      one.published = known[week].published.map { $0 - $0 % Self.day }
      return one
    }
    #expect(places(moved, known) == Array(0..<10))
  }

  @Test(arguments: ["sid", "ts", "st", "se", "session", "token", "id", "_"], [1, 2, 5, 10, -1, -2, -5, -10])
  func anEpisodeThatDiffersByAParameterAloneIsNew(key: String, signedWindow: Int) {
    let (window, hasGuids) = (abs(signedWindow), signedWindow > 0)
    let all = (0..<40).map { number in
      item(
        "Episode \(number)", guid: hasGuids ? "g\(number)" : nil,
        "https://m.example/play.mp3?\(key)=\(900 + number)", at: Int64(number) * Self.day)
    }
    var known: [ItemTraits] = []
    for end in stride(from: window, through: 40, by: 1) {
      let shown = Array(all[(end - window)..<end])
      let decisions = places(shown, known)
      for (item, place) in zip(shown, decisions) {
        #expect(place == known.firstIndex(of: item), "\(key) \(item.title)")
        if place == nil { known.append(item) }
      }
    }
    #expect(known == all)
  }

  @Test(arguments: [true, false])
  func aFeedWhoseNewestIsAlwaysAtTheSameAddressGrows(hasGuids: Bool) {
    let yesterday = item(
      "News", guid: hasGuids ? "a" : nil, "https://m.example/latest.mp3", at: 0, duration: 300)
    let today = item(
      "News", guid: hasGuids ? "b" : nil, "https://m.example/latest.mp3", at: Self.day, duration: 302)
    #expect(places([today], [yesterday]) == [nil])
    #expect(places([yesterday], [yesterday]) == [0])
  }

  @Test func hourlyNewsOfOneTitleStayApart() {
    let known = (0..<24).map {
      item("News", guid: "\($0)", "https://m.example/n\($0).mp3", at: Int64($0) * 3600)
    }
    let next = item("News", guid: "24", "https://m.example/n24.mp3", at: 24 * 3600)
    #expect(places(Array(known.suffix(3)) + [next], known) == [21, 22, 23, nil])
    #expect(places([next], known) == [nil])
  }

  // MARK: Moves

  @Test func aShowThatMovesToAnotherHostKeepsItsEpisodes() {
    let known = (0..<200).map { number in
      item(
        "Episode \(number)", guid: "old:\(number)", "https://old.example/audio/\(number).mp3",
        at: Int64(number) * Self.day * 7, duration: 1805 + number, length: 20_000_000 + Int64(number))
    }
    let moved = (0..<200).map { number in
      item(
        "Episode \(number)", guid: "new-\(number * 7)", "https://new.example/m/\(number * 31)/file.mp3",
        at: Int64(number) * Self.day * 7, duration: (1805 + number) / 60 * 60,
        length: 31_000_000 + Int64(number) * 3)
    }
    let new = item("Episode 200", guid: "new-x", "https://new.example/m/9/file.mp3", at: 200 * Self.day * 7)
    #expect(places(moved.reversed() + [new], known) == Array((0..<200).reversed()) + [nil])
    // By the day alone, as hosts write midnight for all.
    let midnight = moved.map { one in
      var one = one
      one.published = (one.published ?? 0) / Self.day * Self.day
      return one
    }
    #expect(places(midnight, known) == Array(0..<200))
    // Without any guid, before or after.
    let bare = moved.map { one in
      var one = one
      one.guid = nil
      return one
    }
    #expect(places(bare, known) == Array(0..<200))
  }

  @Test func aShowThatMovesWithoutDatesIsKnownByTitleDurationAndLength() {
    let known = (0..<5).map {
      item(
        "T\($0)", guid: "a\($0)", "https://a.example/\($0).mp3", duration: 100 * ($0 + 9),
        length: 1_000_000 + Int64($0))
    }
    let moved = (0..<5).map {
      item(
        "T\($0)", guid: "b\($0)", "https://b.example/x\($0).mp3", duration: 100 * ($0 + 9),
        length: 1_000_000 + Int64($0))
    }
    #expect(places(moved, known) == [0, 1, 2, 3, 4])
  }

  @Test func aTrackerBeforeTheAddressChangesNothing() {
    let known = item("One", guid: nil, "https://media.example/e/1.mp3")
    let tracked = item(
      "One: corrected", guid: nil,
      "https://dts.podtrac.com/redirect.mp3/pdst.fm/e/media.example/e/1.mp3?x-amz-date=1")
    #expect(places([tracked], [known]) == [nil], "an address alone is not enough against another title")
    #expect(places([item("One!", tracked.address.forRequest)], [known]) == [0])
  }

  // MARK: Corrections

  @Test func anotherGuidForTheSameAddressOrTheSameTitleDayAndDurationIsTheSame() {
    let known = (0..<6).map {
      item(
        "T\($0)", guid: "\($0)", "https://m.example/e\($0).mp3", at: Int64($0) * Self.day,
        duration: 1000 + 90 * $0)
    }
    var changed = known
    changed[2].guid = "new"
    #expect(places(changed, known) == [0, 1, 2, 3, 4, 5])
    changed[2].address = "https://m.example/other.mp3?v=77"
    #expect(places(changed, known) == [0, 1, 2, 3, 4, 5])
    changed[2].published = changed[2].published.map { $0 + 3600 }
    changed[2].duration = changed[2].duration.map { $0 + 3 }
    #expect(places(changed, known) == [0, 1, 2, 3, 4, 5])
    changed[2].title = "Else"
    #expect(places(changed, known) == [0, 1, nil, 3, 4, 5])
  }

  @Test func withoutAGuidACorrectedDateOrANewUploadIsTheSame() {
    let known = item("One", guid: nil, "https://m.example/ep1.mp3", at: 0)
    #expect(places([item("One", "https://m.example/ep1.mp3", at: 3 * Self.day)], [known]) == [0])
    #expect(places([item("One", "https://m.example/ep1-fixed.mp3", at: 0)], [known]) == [0])
    #expect(places([item("One", "https://m.example/ep9.mp3", at: 3 * Self.day)], [known]) == [nil])
  }

  @Test func aTrailerOfTheNextSeasonIsNew() {
    let known = item("Trailer", guid: "s1", "https://m.example/s1-trailer.mp3", at: 0, duration: 60)
    let next = item(
      "Trailer", guid: "s2", "https://m.example/s2-trailer.mp3", at: 300 * Self.day, duration: 61)
    #expect(places([next], [known]) == [nil])
    #expect(places([next, known], [known]) == [nil, 0])
  }

  // MARK: Equals

  @Test func doubleGuidsAreToldApartByTheRest() {
    let one = item("One", guid: "same", "https://m.example/1.mp3", at: 0)
    let two = item("Two", guid: "same", "https://m.example/2.mp3", at: 0)
    let three = item("Three", guid: "same", "https://m.example/3.mp3", at: 0)
    #expect(places([two, one], [one, two]) == [1, 0])
    #expect(places([two, three], [one, two]) == [1, nil])
    #expect(places([one, two], [one]) == [0, nil])
  }

  @Test func nothingIsPairedByOrderAmongEquals() {
    let known = [
      item("News", guid: "a", "https://m.example/1.mp3", at: 0),
      item("News", guid: "b", "https://m.example/2.mp3", at: 0),
    ]
    let incoming = [
      item("News", guid: "c", "https://n.example/1a.mp3", at: 0),
      item("News", guid: "d", "https://n.example/2b.mp3", at: 0),
    ]
    #expect(places(incoming, known) == [nil, nil])
  }

  @Test func equalItemsStayAsManyAsTheyWere() {
    let one = item("Same", "https://m.example/1.mp3")
    #expect(places([one, one], [one, one]) == [0, 1])
    #expect(places([one, one, one], [one, one]) == [0, 1, nil])
    #expect(places([one], [one, one]) == [0])
  }

  @Test func itemsWithoutAnyTraitAreKnownByTheirAddress() {
    let known = (0..<3).map { item("", "https://m.example/a\($0)00.mp3") }
    #expect(places(known.reversed() + [item("", "https://m.example/a900.mp3")], known) == [2, 1, 0, nil])
    let nothing = item("", "https://m.example/latest.mp3")
    #expect(places([nothing], [nothing]) == [0], "one that says nothing does not multiply")
  }

  /// Neither guid nor date, and another session in the address each time.
  @Test(
    arguments: ["", "News"], ["https://m.example/play.mp3?sid=", "https://m.example/ep12/audio.mp3?ts="])
  func whatSaysNothingButASessionDoesNotMultiply(title: String, address: String) {
    for count in 1...3 {
      let known = (0..<count).map { item(title, address + "\($0)") }
      let renewed = (0..<count).map { item(title, address + "9\($0)") }
      #expect(Set(places(renewed, known)) == Set(known.indices.map { $0 }))
      // One more, and nobody can say which.
      #expect(places(renewed, known.dropLast()).allSatisfy { $0 == nil } || count == 1)
    }
    // What anything else tells apart is new.
    let known = item(title, address + "1")
    #expect(places([item("Other", address + "2")], [known]) == [nil])
    #expect(places([item(title, "https://n.example/other.mp3")], [known]) == [nil])
  }

  @Test func aSignatureThatIsRenewedChangesNothing() {
    let known = (0..<5).map {
      item("T\($0)", "https://m.example/\($0).mp3?Expires=1&Signature=a\($0)", at: Int64($0) * Self.day)
    }
    let renewed = (0..<5).map {
      item("T\($0), part", "https://m.example/\($0).mp3?Expires=2&Signature=b\($0)", at: Int64($0) * Self.day)
    }
    #expect(places(renewed, known) == [0, 1, 2, 3, 4])
  }

  @Test func reasonsAreGivenWithTheDecision() throws {
    let known = item("One", guid: "a", "https://a.example/1.mp3", at: 0, duration: 100)
    let moved = item("One", guid: "b", "https://b.example/2.mp3", at: 0, duration: 102)
    guard case .known(0, let evidence) = IdentityEngine.decide([moved], known: [known])[0] else {
      Issue.record("not known")
      return
    }
    #expect(evidence.findings == [.otherGuid, .sameTitle, .sameTime, .sameDuration])
    #expect(evidence.score == evidence.findings.map(\.points).reduce(0, +))
  }

  // MARK: Cost

  @Test func tenThousandThatAllShareTheirTraitsAreNotComparedWithEachOther() {
    let count = Sanitizer.isOn ? 1000 : 10_000
    let known = (0..<count).map {
      item("News", guid: "same", "https://m.example/latest.mp3", at: Int64($0) * 60)
    }
    let incoming = (0..<count).map {
      item("News", guid: "same", "https://m.example/newest.mp3", at: Int64($0) * 60)
    }
    let decisions = places(incoming, known)
    #expect(Set(decisions.compactMap(\.self)).count == decisions.compactMap(\.self).count)
  }

  /// Whatever comes in, no episode is given twice and nothing depends on the order of the document.
  @Test(arguments: 1...200)
  func anyFeedAtAllIsDecidedTheSameInAnyOrder(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    func any() -> ItemTraits {
      var traits = item(
        ["", "A", "B", "News"].randomElement(using: &random) ?? "",
        guid: [nil, "1", "2", "3"].randomElement(using: &random) ?? nil,
        ["https://m.example/1.mp3", "https://m.example/latest.mp3", "https://n.example/x.mp3?sid=1", "%", ""]
          .randomElement(using: &random) ?? "")
      traits.published = [nil, .min, .max, 0, Self.start].randomElement(using: &random) ?? nil
      traits.duration = [nil, 0, 60, .max].randomElement(using: &random) ?? nil
      traits.length = [nil, -1, 20_000, .max].randomElement(using: &random) ?? nil
      return traits
    }
    let known = (0..<Int.random(in: 0...12, using: &random)).map { _ in any() }
    let items = (0..<Int.random(in: 0...12, using: &random)).map { _ in any() }
    let decisions = places(items, known)
    #expect(Set(decisions.compactMap(\.self)).count == decisions.compactMap(\.self).count)
    let order = Array(items.indices).shuffled(using: &random)
    let shuffled = places(order.map { items[$0] }, known)
    for (position, index) in order.enumerated() {
      #expect(
        (shuffled[position] == nil) == (decisions[index] == nil)
          || items.count(where: { $0 == items[index] }) > 1)
    }
    #expect(places(known, known) == Array(known.indices.map { $0 }) || Set(known).count < known.count)
  }
}
