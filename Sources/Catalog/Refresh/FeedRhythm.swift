/// How often a feed brings something, learnt from when its episodes were published: asked often when the next one
/// is near, seldom before, and less and less where none comes.
package struct FeedRhythm: Hashable, Sendable {
  /// When the newest episode was published, in seconds since 1970; nil where no episode has a date.
  private let newest: Int64?
  /// Seconds from one episode to the next: as is usual, and as is early. Nil where too few are known.
  private let usual: Int64?
  private let early: Int64?
  /// When the feed was first read.
  private let firstRead: Int64
  /// The feed says that no more will come (`itunes:complete`).
  private let isComplete: Bool

  private static let hour: Int64 = 3600
  private static let day: Int64 = 24 * hour
  private static let week: Int64 = 7 * day
  private static let year: Int64 = 365 * day
  /// Episodes by which it is learnt.
  package static let memory = 13
  private static let fewest = 4

  /// - Parameter published: times of the newest episodes, in any order.
  package init(published: some Sequence<Int64>, firstRead: Int64, isComplete: Bool = false) {
    // Several at once are one occasion.
    var times: [Int64] = []
    let sensible: Range<Int64> = 0..<(1 << 40)
    for time in published.filter(sensible.contains).sorted(by: >)
    where times.last.map({ $0 - time >= Self.hour }) ?? true {
      times.append(time)
    }
    newest = times.first
    let gaps = zip(times, times.dropFirst()).map { $0 - $1 }.sorted()
    let isKnown = times.count >= Self.fewest
    usual = isKnown ? gaps[gaps.count / 2] : nil
    early = isKnown ? gaps[gaps.count / 5] : nil
    self.firstRead = min(max(firstRead, 0), 1 << 40)
    self.isComplete = isComplete
  }

  /// Seconds until it is asked for again.
  /// - Parameter base: as the settings say: never sooner.
  package func interval(now: Int64, base: Int64) -> Int64 {
    if isComplete { return max(base, Self.week) }
    let age = now - (newest ?? firstRead)
    guard let usual, let early, let newest else {
      // Too little is known: its own time counts since it was first read.
      let watched = now - max(newest ?? firstRead, firstRead)
      return max(base, watched > Self.year ? Self.week : watched > 30 * Self.day ? Self.day : 0)
    }
    if age > Self.year { return max(base, Self.week) }
    let window = newest + early * 9 / 10
    if now < window { return max(base, min(window - now, Self.day / 2)) }
    // What comes once a week is looked for every hour, what comes seldom not as often.
    let near = max(base, min(usual / Self.looks, Self.day / 2))
    // It is overdue: the longer, the more patient.
    if age > usual * 3 / 2 { return max(near, min((age - usual) / 24, Self.day)) }
    return near
  }

  /// Times that it is looked for in what is usually between two episodes.
  private static let looks: Int64 = 168

  /// Whether an unchanged answer is to be doubted: an episode is overdue, or may be where the rhythm is unknown.
  /// - Parameter lastWhole: when the whole feed last came.
  package func isDoubtful(now: Int64, lastWhole: Int64) -> Bool {
    let since = now - lastWhole
    if since < Self.day { return false }
    if isComplete || newest.map({ now - $0 > Self.year }) ?? false { return since > 30 * Self.day }
    guard let usual, let newest else { return since > Self.week }
    return now - newest > 2 * usual && since > min(usual, Self.week)
  }
}
