import Catalog
import Testing

/// How often a feed is asked for.
@Suite struct RhythmTests {
  private let day: Int64 = 86_400
  private let now: Int64 = 1_700_000_000

  private func interval(_ ages: [Int64], firstRead: Int64? = nil, isComplete: Bool = false) -> Int64 {
    let published: [Int64] = ages.map { now - $0 }
    let rhythm = FeedRhythm(published: published, firstRead: firstRead ?? now, isComplete: isComplete)
    return rhythm.interval(now: now, base: 3600)
  }

  @Test func whatIsNotKnownIsAskedForAsTheSettingsSay() {
    #expect(interval([]) == 3600)
    #expect(interval([1000 * day, 1001 * day, 1002 * day]) == 3600)
    #expect(interval([1000 * day], firstRead: now - 40 * day) == day)
    #expect(interval([1000 * day], firstRead: now - 400 * day) == 7 * day)
  }

  @Test func aWeeklyShowIsAskedForOftenWhenTheNextIsNear() {
    func weekly(_ age: Int64) -> Int64 {
      interval((0..<10).map { (week: Int64) -> Int64 in age + week * 7 * day })
    }
    #expect(weekly(1 * day) == day / 2)
    #expect(weekly(6 * day) == 25_920)
    #expect(weekly(7 * day) == 3600)
    #expect(weekly(10 * day) == 3600)
    #expect(weekly(60 * day) == day)
    #expect(weekly(400 * day) == 7 * day)
  }

  @Test func hourlyNewsAreAskedForAsTheSettingsSay() {
    #expect(interval((0..<10).map { (hour: Int64) -> Int64 in 1800 + hour * 3600 }) == 3600)
  }

  @Test func severalOnOneDayAreOneOccasion() {
    var ages: [Int64] = []
    for week: Int64 in 0..<5 {
      for minute: Int64 in 0..<3 { ages.append(week * 7 * day + minute * 60 + day) }
    }
    #expect(interval(ages) == day / 2)
  }

  @Test func whatIsCompleteIsAskedForWeekly() {
    #expect(interval([0, day, 2 * day, 3 * day], isComplete: true) == 7 * day)
  }

  @Test func anUnchangedAnswerIsDoubtedOnlyWhereAnEpisodeIsOverdue() {
    func isDoubtful(_ age: Int64, _ lastWhole: Int64) -> Bool {
      let published: [Int64] = (0..<10).map { (week: Int64) -> Int64 in now - age - week * 7 * day }
      return FeedRhythm(published: published, firstRead: 0).isDoubtful(now: now, lastWhole: now - lastWhole)
    }
    #expect(!isDoubtful(3 * day, 3 * day))
    #expect(!isDoubtful(15 * day, 3 * day))
    #expect(isDoubtful(15 * day, 8 * day))
    #expect(!isDoubtful(1000 * day, 20 * day))
    #expect(isDoubtful(1000 * day, 31 * day))
  }

  @Test func anUnchangedAnswerOfAFeedWithFewEpisodesIsDoubtedAfterAWeek() {
    for published in [[], [now - 8 * day]] {
      let rhythm = FeedRhythm(published: published, firstRead: now - 8 * day)
      #expect(rhythm.isDoubtful(now: now, lastWhole: now - 8 * day))
      #expect(!rhythm.isDoubtful(now: now, lastWhole: now - 6 * day))
    }
  }

  @Test func timesThatMakeNoSenseAreNoFault() {
    let odd: [[Int64]] = [[.min, .max, 0, -1], [0, 0, 0, 0, 0], [.max, .max - 4000, 5, 6, 7]]
    for published in odd {
      for firstRead: Int64 in [0, .max, .min] {
        let rhythm = FeedRhythm(published: published, firstRead: firstRead)
        #expect((3600...7 * day).contains(rhythm.interval(now: now, base: 3600)))
        _ = rhythm.isDoubtful(now: now, lastWhole: now - day)
      }
    }
  }
}
