internal import Catalog
internal import FeedKit
internal import PosixKit

/// How often real feeds would have been asked for in the last year of their histories, and in a second one without
/// news, by what the catalogue has learnt of their rhythm; beside asking each every hour with a whole feed a day.
enum PolitenessBenchmark {
  private static let hour: Int64 = 3600
  private static let day = 24 * hour
  private static let year = 365 * day

  static func run(_ arguments: [String]) throws {
    guard let directory = arguments.first else { throw PosixError(.EINVAL, "read feeds of no directory") }
    var (lively, silent, dead) = (Count(), Count(), Count())
    var delays: [Int64] = []
    var feeds = 0
    for name in try Directories.names(in: directory).sorted() {
      let feed = try FeedParser.parse(bytes: Directories.read("\(directory)/\(name)", limit: 1 << 26))
      let published = feed.episodes.compactMap(\.published).sorted()
      guard let newest = published.last else {
        print("\(name): has no dates")
        continue
      }
      feeds += 1
      let history = History(published: published, timeToLive: feed.timeToLive, isComplete: feed.isComplete)
      let year = history.count(from: newest - year, to: newest, &delays)
      var none: [Int64] = []
      let after = history.count(from: newest, to: newest + self.year, &none)
      let later = history.count(from: newest + self.year, to: newest + 2 * self.year, &none)
      print(
        "\(name): \(year.requests) requests (\(year.hourly)); without news then \(after.requests), "
          + "\(later.requests) in the second year")
      lively.add(year)
      silent.add(after)
      dead.add(later)
    }
    print("\(feeds) feeds, the last year of each: \(lively)")
    print("a year after that without news: \(silent)")
    print("a second year without news: \(dead)")
    delays.sort()
    if !delays.isEmpty {
      print(
        "a new episode is seen after \(delays[delays.count / 2] / 60) minutes in the median, "
          + "\(delays[delays.count * 9 / 10] / 60) in nine of ten cases")
    }
  }

  private struct Count: CustomStringConvertible {
    var requests = 0
    /// Those that ask for the feed even if it has not changed.
    var whole = 0
    /// If it were asked for every hour.
    var hourly = 0

    mutating func add(_ other: Count) {
      requests += other.requests
      whole += other.whole
      hourly += other.hourly
    }

    var description: String {
      "\(requests) requests instead of \(hourly), \(whole) of them for the whole feed instead of \(hourly / 24)"
    }
  }

  private struct History {
    /// Oldest first.
    let published: [Int64]
    let timeToLive: Int?
    let isComplete: Bool

    /// Follows the feed through a year.
    /// - Parameter delays: from each publication to the request that sees it.
    func count(from start: Int64, to end: Int64, _ delays: inout [Int64]) -> Count {
      var count = Count()
      let times = RefreshTimes(interval: Int(hour), jitter: 0)
      var now = start
      var lastWhole = start
      var known = published.count { $0 <= start }
      while now <= end {
        count.requests += 1
        let visible = published.count { $0 <= now }
        for new in published[known..<visible] { delays.append(now - new) }
        let isNew = visible > known
        known = visible
        let rhythm = FeedRhythm(
          published: published.prefix(known).suffix(FeedRhythm.memory), firstRead: start,
          isComplete: isComplete)
        if rhythm.isDoubtful(now: now, lastWhole: lastWhole) { count.whole += 1 }
        if isNew || rhythm.isDoubtful(now: now, lastWhole: lastWhole) { lastWhole = now }
        now = times.next(now: now, rhythm: rhythm, timeToLive: timeToLive, maximumAge: nil)
      }
      var asked = start
      while asked <= end {
        count.hourly += 1
        asked = times.next(now: asked, rhythm: nil, timeToLive: timeToLive, maximumAge: nil)
      }
      return count
    }
  }
}
