import FeedKit
import PodcastModel
import Testing

@Suite struct EpisodeNamingTests {
  /// 2024-01-03T00:00:00Z.
  private let day: Int64 = 1_704_240_000
  private var now: Int64 { day + 40 * 86_400 }

  private func item(
    _ title: String, at time: Int64?, season: Int? = nil, number: Int? = nil,
    url: WebAddress = "https://m.example/a.mp3"
  ) -> ParsedEpisode {
    var item = ParsedEpisode(index: 0)
    (item.title, item.published, item.season, item.episode) = (title, time.map { day + $0 }, season, number)
    item.enclosures = [ParsedEpisode.Enclosure(url: url, type: nil, length: nil)]
    return item
  }

  private struct Known {
    var stem: String
    /// Seconds behind the day's beginning; nil for an undated one.
    var time: Int64?

    init(_ stem: String, _ time: Int64?) {
      self.stem = stem
      self.time = time
    }
  }

  private func stems(
    _ items: [ParsedEpisode], isSerial: Bool = false, known: [Known] = []
  ) -> [String] {
    names(items, isSerial: isSerial, known: known).map(\.stem)
  }

  /// In the order of the items.
  private func names(
    _ items: [ParsedEpisode], isSerial: Bool = false, known: [Known] = []
  ) -> [EpisodeNaming.Name] {
    var naming = EpisodeNaming(isSerial: isSerial, now: now)
    for one in known {
      let published = one.time.map { day + $0 } ?? now
      naming.add(stem: one.stem, published: published, isDated: one.time != nil, modified: published)
    }
    return naming.name(items, isNewestFirst: naming.isNewestFirst(items)).sorted {
      $0.place < $1.place
    }
  }

  @Test func `An episode that has its day for itself has the date alone`() {
    #expect(
      stems([item("B", at: 90_000), item("A", at: 3600)]) == ["2024-01-04 - B", "2024-01-03 - A"])
  }

  @Test func `Episodes of one day have their hour`() {
    let all = stems([
      item("Evening", at: 18 * 3600 + 1800), item("Noon", at: 12 * 3600), item("Morning", at: 6 * 3600 + 60),
    ])
    #expect(all == ["2024-01-03 1830 - Evening", "2024-01-03 1200 - Noon", "2024-01-03 0601 - Morning"])
    #expect(all.sorted() == all.reversed())
  }

  @Test func `Episodes of one time have numbers in the order of season and number`() {
    let chapters = [10, 2, 1, 12].map { (number: Int) in
      item("Chapter \(number)", at: 3600, number: number)
    }
    #expect(
      stems(chapters) == [
        "2024-01-03 003 - Chapter 10", "2024-01-03 002 - Chapter 2", "2024-01-03 001 - Chapter 1",
        "2024-01-03 004 - Chapter 12",
      ])
  }

  @Test func `Episodes of one time without numbers have those of the feed's order`() {
    let oldestFirst = (1...12).map { item("Part \($0)", at: nil) }
    let names = names(oldestFirst)
    #expect(
      names.map(\.stem)
        == (1...12).map { (number: Int) in
          "2024-02-12 \(number < 10 ? "00" : "0")\(number) - Part \(number)"
        })
    #expect(names.map(\.modified) == (0..<12).map { now + Int64($0) })
    #expect(stems(oldestFirst.reversed()) == names.map(\.stem).reversed())
    let newestFirst = [item("C", at: 90_000), item("B", at: 100), item("A", at: 100)]
    #expect(stems(newestFirst) == ["2024-01-04 - C", "2024-01-03 002 - B", "2024-01-03 001 - A"])
  }

  @Test func `A thousand episodes of one day have numbers of four digits`() {
    let all = stems((1...1000).map { item("Part \($0)", at: nil) })
    #expect(all.first == "2024-02-12 0001 - Part 1" && all.last == "2024-02-12 1000 - Part 1000")
  }

  @Test func `A later episode of a day sorts behind those that have names`() {
    let first = [Known("2024-01-03 - Morning", 6 * 3600)]
    #expect(stems([item("Noon", at: 12 * 3600)], known: first) == ["2024-01-03 1200 - Noon"])
    #expect(stems([item("Again", at: 6 * 3600)], known: first) == ["2024-01-03 002 - Again"])
    let hours = [Known("2024-01-03 0600 - A", 6 * 3600), Known("2024-01-03 1200 - B", 12 * 3600)]
    #expect(stems([item("C", at: 18 * 3600)], known: hours) == ["2024-01-03 1800 - C"])
    #expect(stems([item("C", at: 12 * 3600)], known: hours) == ["2024-01-03 121 - C"])
    let numbers = [Known("2024-01-03 001 - A", 0), Known("2024-01-03 002 - B", 0)]
    #expect(stems([item("C", at: 3600)], known: numbers) == ["2024-01-03 003 - C"])
  }

  @Test func `Equal times on a day of hours get numbers that sort behind the hour`() {
    let hour = 3600
    let known = [Known("2024-01-03 0600 - A", 6 * 3600), Known("2024-01-03 1200 - B", 12 * 3600)]
    func item(_ title: String, _ time: Int) -> ParsedEpisode { self.item(title, at: Int64(time)) }
    let evening = stems([item("Z", 18 * hour), item("Y", 18 * hour), item("X", 19 * hour)], known: known)
    #expect(evening == ["2024-01-03 181 - Z", "2024-01-03 182 - Y", "2024-01-03 1900 - X"])
    let between = stems([item("Z", 9 * hour), item("Y", 9 * hour), item("X", 12 * hour + 60)], known: known)
    #expect(between == ["2024-01-03 091 - Z", "2024-01-03 092 - Y", "2024-01-03 1201 - X"])
    // One after the other.
    let numbers = known + [Known("2024-01-03 1800 - Z", 18 * 3600), Known("2024-01-03 181 - Y", 18 * 3600)]
    #expect(stems([item("X", 18 * hour)], known: numbers) == ["2024-01-03 182 - X"])
    #expect(stems([item("X", 18 * hour + 300)], known: numbers) == ["2024-01-03 182 - X"])
    #expect(stems([item("X", 9 * hour)], known: numbers) == ["2024-01-03 0900 - X"])
    #expect(stems([item("X", 20 * hour)], known: numbers) == ["2024-01-03 2000 - X"])
    let last = [Known("2024-01-03 0600 - A", 6 * 3600), Known("2024-01-03 2359 - B", 86_399)]
    #expect(stems([item("X", 86_399)], known: last) == ["2024-01-03 236 - X"])
  }

  @Test func `A feed's known items tell its direction where dates do not`() {
    let naming = EpisodeNaming(isSerial: false, now: now)
    let items = ["Beta", "Alpha", "Zeta", "Eta"].map { item($0, at: 0) }
    #expect(naming.isNewestFirst(items) { $0 >= 2 })
    #expect(!naming.isNewestFirst(items) { $0 < 2 })
    #expect(!naming.isNewestFirst(items) && !naming.isNewestFirst(items) { _ in true })
    // One is pinned to the top.
    #expect(naming.isNewestFirst(items) { $0 != 1 })
    let dated = [item("A", at: 0), item("B", at: 90_000)]
    #expect(!naming.isNewestFirst(dated) { $0 == 1 })
  }

  @Test(arguments: [
    ("x.mp3", ".mp3", "x"), ("Morning .MP3", ".mp3", "Morning"), ("x.mp3", ".m4a", "x.mp3"),
    (".mp3", ".mp3", ".mp3"), ("<b>x.mp3</b> ", ".mp3", "x"), ("xmp3", ".mp3", "xmp3"),
  ])
  func `A title that ends with the file's extension does not say it twice`(
    title: String, ending: String, expected: String
  ) {
    let item = item(title, at: 0, url: "https://m.example/a\(ending)")
    #expect(stems([item]) == ["2024-01-03 - \(expected)"])
  }

  @Test func `Equal times of modification are told apart by a second`() {
    let names = names([item("A", at: 0), item("B", at: 0), item("C", at: 1)], known: [Known("x", 0)])
    #expect(names.map { $0.modified - day } == [1, 2, 3])
  }

  @Test func `A serial's names have season and number where titles do not say them`() {
    #expect(
      stems([item("The start", at: 0, season: 2, number: 1)], isSerial: true)
        == ["2024-01-03 - S02E01 - The start"])
    for title in ["S2E1: The start", "Season 2, Episode 1", "2x01 The start"] {
      #expect(!stems([item(title, at: 0, season: 2, number: 1)], isSerial: true)[0].contains(" S02E01 - "))
    }
    #expect(stems([item("A", at: 0, season: 2, number: 1)]) == ["2024-01-03 - A"])
    #expect(stems([item("A", at: 0, number: 1)], isSerial: true) == ["2024-01-03 - A"])
  }

  @Test(arguments: [
    ("https://m.example/news/Morning%20news.mp3?x=1", "Morning news"), ("https://m.example/a.b.m4a#t", "a.b"),
    ("https://m.example/episode", "episode"), ("https://m.example/", "Untitled"),
    ("https://m.example/%2E%2E.mp3", "Untitled"),
  ])
  func `An item without a title is named after its address`(url: String, expected: String) {
    #expect(stems([item("", at: 0, url: WebAddress(url))]) == ["2024-01-03 - \(expected)"])
    #expect(stems([item("<b></b>", at: 0, url: WebAddress(url))]) == ["2024-01-03 - \(expected)"])
  }

  @Test func `Equal names that remain get numbers`() {
    let all = stems([item("News", at: 6 * 3600), item("News", at: 6 * 3600 + 1)])
    #expect(all == ["2024-01-03 001 - News", "2024-01-03 002 - News"])
    #expect(stems([item("A", at: 0)], known: [Known("2024-01-03 - a", 86_400)]) == ["2024-01-03 - A (2)"])
  }
}
