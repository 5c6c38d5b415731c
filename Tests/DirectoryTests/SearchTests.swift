import Directory
import Glibc
import PodcastModel
import SQLiteKit
import TestSupport
import Testing

@Suite struct SearchTests {
  private let installation: Installation

  init() throws { installation = try Installation() }

  @Test func wordsAreFoundByTheirBeginningsInTitleAndAuthor() throws {
    try installation.install([
      Installation.row("Harbour Lights", ["itunesAuthor": "Zoë Müller"]), Installation.row("Lighthouse"),
      Installation.row("Smørrebrød og Ærlighed"), Installation.row("海洋之声"), Installation.row("Ёлка"),
    ])
    #expect(try installation.titles("light").sorted() == ["Harbour Lights", "Lighthouse"])
    #expect(try installation.titles("ha li") == ["Harbour Lights"])
    #expect(try installation.titles("zoe muller") == ["Harbour Lights"])
    #expect(try installation.titles("smorrebrod") == ["Smørrebrød og Ærlighed"])
    #expect(try installation.titles("海洋") == ["海洋之声"])
    #expect(try installation.titles("елка") == ["Ёлка"])
    #expect(try installation.titles("lighthouses") == [])
    #expect(try installation.titles("\"AND\" OR *") == [] && installation.titles("***") == [])
  }

  @Test func thoseThatAreCalledSoComeBeforeThePopular() throws {
    try installation.install([
      Installation.row("The Story of the Harbour", ["popularityScore": 9]),
      Installation.row("Tales", ["popularityScore": 8, "itunesAuthor": "Harbour Radio"]),
      Installation.row("Harbour", ["popularityScore": 0]),
      Installation.row("Harbour Lights", ["popularityScore": 1]),
    ])
    #expect(
      try installation.titles("harbour") == [
        "Harbour", "Harbour Lights", "The Story of the Harbour", "Tales",
      ])
  }

  @Test func aLanguageNarrowsTheAnswer() throws {
    try installation.install([
      Installation.row("Harbour", ["language": "en"]),
      Installation.row("Harbour Wien", ["language": "de_AT"]),
      Installation.row("Harbour Bern", ["language": "de-ch"]), Installation.row("Harbour Nowhere"),
    ])
    #expect(try installation.titles("harbour lang:de").sorted() == ["Harbour Bern", "Harbour Wien"])
    #expect(try installation.titles("harbour lang:de-AT") == ["Harbour Wien"])
    // The mark of a language is no word of a query.
    #expect(try installation.titles("de") == [])
  }

  @Test func podcastsAreKnownByTheirNumbers() throws {
    try installation.install([
      Installation.row("One", ["id": 920_666, "itunesId": 1_092_957_894]),
      Installation.row("Two", ["itunesId": "7"]),
    ])
    #expect(try installation.directory.podcast(apple: 7)?.title == "Two")
    #expect(try installation.directory.podcast(apple: 1_092_957_894)?.title == "One")
    #expect(try installation.directory.podcast(apple: 5) == nil)
    #expect(try installation.directory.podcast(number: 920_666)?.title == "One")
    #expect(try installation.directory.podcast(number: 3) == nil)
  }

  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func aDirectoryOfAnotherUserIsNotRead() throws {
    try installation.install([Installation.row("One")])
    #expect(installation.directory.isInstalled)
    chown(installation.place.file, 12_345, 12_345)
    #expect(!installation.directory.isInstalled)
    #expect(throws: DirectoryError.missing) { try installation.titles("one") }
  }

  @Test func withoutADirectoryQueriesSaySo() throws {
    #expect(throws: DirectoryError.missing) { try installation.titles("one") }
    #expect(!installation.directory.isInstalled)
    try installation.install([Installation.row("One")])
    try installation.directory.remove()
    #expect(throws: DirectoryError.missing) { try installation.titles("one") }
  }

  /// The model looks through all rows.
  @Test func theAnswersAreThoseOfAPlainScan() throws {
    var shows: [(title: String, author: String)] = []
    let file = try installation.dumpFile([]) { try $0.addMany(3000, now: Installation.now, seed: 7) }
    try installation.install(file)
    let dump = try Database(path: file, options: Self.reading)
    shows = try dump.all("SELECT title, itunesAuthor FROM podcasts") { ($0.string(0), $0.string(1)) }
    for query in [
      "the", "podc", "podcast", "th po", "ka", "k", "berl", "kalo mi", "podcasting", "show the radio", "zzz",
    ] {
      let words = query.split(separator: " ")
      let expected = shows.filter { show in
        let text = (show.title + " " + show.author).split(separator: " ")
        return words.allSatisfy { word in text.contains { $0.hasPrefix(word) } }
      }
      let found = try installation.directory.search(SearchQuery(parsing: query), limit: 5000)
      #expect(found.map(\.title).sorted() == expected.map(\.title).sorted(), "\(query)")
    }
  }

  private static var reading: Database.Options {
    var options = Database.Options()
    options.isReadOnly = true
    options.isImmutable = true
    return options
  }
}
