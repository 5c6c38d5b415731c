import Directory
import PodcastModel
import SQLiteKit
import TestSupport
import Testing

@Suite struct RankTests {
  private let installation: Installation
  private let now = Installation.now
  private let day = Installation.day

  init() throws { installation = try Installation() }

  @Test func theBetterComesFirst() throws {
    let good: [String: any Bindable] = [
      "popularityScore": 5, "itunesId": 7, "newestItemPubdate": now - day,
      "oldestItemPubdate": now - 2000 * day,
      "episodeCount": 100,
    ]
    func show(_ name: String, _ more: [String: any Bindable]) -> [String: any Bindable] {
      Installation.row("Show \(name)", good.merging(more) { $1 })
    }
    try installation.install([
      show("h dead", ["dead": 1, "popularityScore": 9]), show("g broken score", ["popularityScore": 29]),
      show("f without episodes for years", ["newestItemPubdate": now - 800 * day]),
      show("e of the future", ["newestItemPubdate": now + 20 * day, "itunesId": ""]),
      show("d short", ["episodeCount": 3]),
      show("b as text", ["popularityScore": "5", "episodeCount": "500"]),
      show("a popular", ["popularityScore": 9]), show("c", [:]),
    ])
    let titles = try installation.titles("show").map { $0.split(separator: " ")[1] }
    #expect(titles == ["a", "b", "c", "d", "f", "e", "g", "h"])
  }

  @Test func theSecondOfOneTitleAtOneHostIsLast() throws {
    try installation.install([
      ["url": "https://h.example/2", "title": "The Twin", "popularityScore": 3],
      ["url": "https://h.example/1", "title": "The Twin", "popularityScore": 9],
      ["url": "https://other.example/1", "title": "The Twin", "popularityScore": 2],
      ["url": "https://h.example/3", "title": "The twin sister", "popularityScore": ""],
    ])
    let found = try installation.directory.search(SearchQuery(parsing: "twin sister"), limit: 9)
    #expect(found.map(\.rank) == [3])
    let all = try installation.directory.search(SearchQuery(parsing: "twin"), limit: 9)
    #expect(
      all.sorted { $0.rank < $1.rank }.map { $0.feedURL.shown } == [
        "https://h.example/1", "https://other.example/1", "https://h.example/3", "https://h.example/2",
      ])
  }

  @Test func oddRowsAreReadAsFarAsTheyMakeSense() throws {
    let facts = try installation.install([
      ["url": "https://a.example/f", "title": "  A \u{1}title\nof\ttwo   lines \u{202E}"],
      [
        "url": "http://b.example/f", "title": "Plain", "itunesId": "123", "itunesAuthor": "",
        "itunesOwnerName": "Owner",
      ],
      ["url": "no address", "title": "Lost"], ["url": "https://c.example/f", "title": " \n "],
      [
        "url": "feed://d.example/f", "title": "Tom &amp; Ann", "language": "de_AT", "category1": "True crime",
      ],
      ["url": "https://e.example/f", "title": "Numbers", "itunesId": "x", "episodeCount": "many"],
    ])
    #expect((facts.podcasts, facts.refused) == (4, 2))
    #expect(try installation.titles("title") == ["A title of two lines"])
    let plain = try #require(try installation.directory.podcast(apple: 123))
    #expect(plain.feedURL.forRequest == "http://b.example/f" && plain.author == "Owner")
    let ann = try #require(try installation.directory.search(SearchQuery(parsing: "ann"), limit: 1).first)
    #expect((ann.title, ann.language, ann.categories) == ("Tom & Ann", "de-at", ["True Crime"]))
    #expect(ann.feedURL.forRequest == "http://d.example/f")
    #expect(try installation.titles("numbers") == ["Numbers"])
    #expect(try installation.directory.podcast(apple: 0) == nil)
  }

  @Test func aDumpOfTheTwoRequiredColumnsIsEnough() throws {
    let file = try installation.dumpFile([], schema: "CREATE TABLE podcasts (title TEXT, URL TEXT)") { dump in
      try dump.script("INSERT INTO podcasts VALUES ('Harbour Lights', 'https://h.example/f')")
    }
    #expect(try installation.install(file).podcasts == 1)
    #expect(try installation.titles("harb ligh") == ["Harbour Lights"])
  }

  @Test func aCategoryHasItsBestAndThoseOfEachLanguage() throws {
    try installation.install(
      (1...210).map { number in
        Installation.row(
          "Show \(number)",
          [
            "category1": "after-shows", "language": number % 2 == 0 ? "de-DE" : "en",
            "episodeCount": 300 - number,
          ])
      } + [Installation.row("Dead", ["category1": "news", "dead": 1])])
    let shows = try installation.directory.podcasts(inCategory: "After-Shows")
    #expect(shows.count == 200 && shows.first?.title == "Show 1")
    let german = try installation.directory.podcasts(inCategory: "After-Shows", language: "de")
    #expect(german.count == 105 && german.first?.title == "Show 2")
    #expect(try installation.directory.languages(ofCategory: "After-Shows") == ["de", "en"])
    #expect(try installation.directory.podcasts(inCategory: "News").isEmpty)
    #expect(Categories.names.count == 112 && Set(Categories.names).count == 112)
  }
}
