import Catalog
import Configuration
import FeedKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// What is in the full-text index is what is in the tables.
@Suite struct FullTextTests {
  private func found(_ catalog: Catalog, _ words: String) throws -> [String] {
    try catalog.titles(ofEpisodesWith: words)
  }

  @Test func whatIsMuchIsIndexedBehindAndFoundAllTheSame() throws {
    let world = try CatalogWorld()
    let items = (0..<700).map { number in
      var item = TestFeed.Item("Episode \(number)", guid: "\(number)")
      item.extra = "<description>About \(number == 650 ? "foghorns" : "ships")</description>"
      return item
    }
    world.web.set("/feed", TestFeed(items: items).page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    #expect(try eventually { try found(world.catalog, "foghorn") == ["Harbour Lights"] })
    #expect(try found(world.catalog, "fo") == ["Harbour Lights"])
    var changed = items
    changed[650].extra = "<description>About nothing</description>"
    changed[3].extra = "<description>About lighthouses</description>"
    world.web.set("/feed", TestFeed(items: changed).page)
    try world.refresh(podcast)
    #expect(try found(world.catalog, "foghorns").isEmpty, "what was withdrawn is found no longer")
    #expect(try found(world.catalog, "lighth") == ["Harbour Lights"])
    try Self.check("\(world.home.places.data)/catalog.sqlite")
  }

  /// Of so many that not all matches are gathered: "lights" stands in most, "early" in all but the newest.
  @Test func `Of words that most episodes have the first in the order are found`() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    let items = (0..<20_600).map { number in
      var item = ParsedEpisode(index: number)
      let words = (number % 3 == 0 ? "" : "lights ") + (number < 20_200 ? "early" : "")
      (item.title, item.guid, item.published) = (
        "E\(number) \(words)", "\(number)", Int64(number) * 60
      )
      let address = WebAddress("http://m.example/\(number).mp3")
      item.enclosures = [ParsedEpisode.Enclosure(url: address, type: nil, length: 1)]
      return item
    }
    try world.catalog.merge(items, into: podcast, now: 1_600_000_000)
    func numbers(_ text: String, limit: Int = 20) throws -> [Int64] {
      let query = try #require(try EpisodeQuery(parsing: "episode:\(text) limit:\(limit)"))
      return try world.catalog.episodes(selectedBy: query, limit: query.limit).map {
        $0.published / 60
      }
    }
    #expect(try numbers("lig earl sort:oldest") == Array((0..<30).filter { $0 % 3 > 0 }.prefix(20)))
    #expect(try numbers("early") == Array((20_180..<20_200).reversed()))
    #expect(try numbers("early sort:oldest older:1970-01-01").isEmpty)
    #expect(try numbers("early newer:1970-01-16").isEmpty)
    // A mount fills an index that was emptied behind: a search finds what it has by then.
    world.catalog.startScheduler()
    _ = try world.catalog.forget(podcast: world.podcast("/other"))
    #expect(try numbers("early sort:oldest", limit: 1000).count == 1000)
    #expect(try eventually { try numbers("early") == Array((20_180..<20_200).reversed()) })
  }

  @Test func aQueryFindsAtOnceWhatIsIndexedBehind() throws {
    let world = try CatalogWorld()
    world.catalog.startScheduler()
    let items = (0..<700).map { TestFeed.Item("Episode E\($0)", guid: "\($0)") }
    world.web.set("/feed", TestFeed(items: items).page)
    try world.refresh(try world.podcast())
    let query = try #require(try EpisodeQuery(parsing: "episode:E650"))
    #expect(try world.catalog.episodes(selectedBy: query, limit: 10).count == 1)
  }

  /// No mount fills the index: each search does.
  /// As where another process writes for long.
  @Test func `A search that cannot fill in what is missing fails`() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    try world.file().script(
      """
      CREATE TRIGGER refuses BEFORE UPDATE OF indexed_upto ON podcast WHEN new.indexed_upto > 0
      BEGIN SELECT RAISE(ABORT, 'refused'); END
      """)
    var item = ParsedEpisode(index: 0)
    item.title = "Foghorns"
    item.enclosures = [ParsedEpisode.Enclosure(url: "http://m.example/1.mp3", type: nil, length: 1)]
    try world.catalog.merge([item], into: podcast, now: 1_600_000_000)
    #expect(throws: CatalogError.self) { try found(world.catalog, "foghorns") }
    try world.file().script("DROP TRIGGER refuses")
    #expect(try found(world.catalog, "foghorns") == ["Harbour Lights"])
  }

  @Test func `A search without a mount finds the same at once and again`() throws {
    let world = try CatalogWorld()
    let items = (0..<3500).map { TestFeed.Item("Episode E\($0)", guid: "\($0)") }
    world.web.set("/feed", TestFeed(items: items).page)
    try world.refresh(try world.podcast())
    let query = try #require(try EpisodeQuery(parsing: "episode:E3"))
    for _ in 0..<2 {
      #expect(try world.catalog.episodes(selectedBy: query, limit: 10_000).count == 611)
    }
  }

  /// Letters are found without their accents, and with them, in all scripts that have any.
  @Test(arguments: [
    ("Η Αθήνα σήμερα", ["αθηνα", "Αθήνα", "ΣΗΜΕΡΑ", "αθη"]),
    ("Всё о ёлках и йодле", ["все", "елках", "иодле", "Ёлк", "йодле"]),
    ("שָׁלוֹם עולם", ["שלום", "שָׁלוֹם"]), ("مُحَمَّد", ["محمد"]), ("Köln am Rhein", ["koln", "Köln"]),
    ("ᾅδης", ["αδης"]), ("Łódź po zmroku", ["lodz", "Łódź", "łódź"]),
    ("Die Straße", ["strasse", "STRASSE", "straß"]),
    ("Martin Ødegaard", ["odegaard", "Ødegaard", "øde"]), ("Æsop", ["aesop", "Æsop"]),
    ("Århus", ["arhus", "århus"]),
    ("サッカーがすき", ["サッカー", "が"]), ("한국어 소식", ["한국어", "소식"]),
  ])
  func accentsDoNotCountInASearch(title: String, words: [String]) throws {
    let world = try CatalogWorld()
    var item = TestFeed.Item(title, guid: "1")
    item.extra = "<description>\(title)</description>"
    world.web.set("/feed", TestFeed(title: title, items: [item]).page)
    world.web.set("/other", TestFeed(title: "Another", items: [item]).page)
    let (podcast, other) = (try world.podcast(), try world.podcast("/other", title: "Another"))
    try world.refresh(podcast)
    try world.refresh(other)
    for word in words {
      #expect(Set(try found(world.catalog, word)) == [title, "Another"], "\(word)")
    }
    try Self.check("\(world.home.places.data)/catalog.sqlite")
  }

  /// The index writes what it has gathered whenever it is told of an episode before the last one: each such part costs
  /// more than the words in it.
  @Test func whatChangesTogetherIsWrittenToTheIndexTogether() throws {
    let world = try CatalogWorld()
    func page(_ word: String, at host: String = "media") -> FakeWeb.Page {
      // The newest first, as feeds have them.
      TestFeed(
        items: (0..<60).reversed().map { number in
          var item = TestFeed.Item(
            "Episode \(number)", guid: "\(number)", url: "http://\(host).example/\(number).mp3",
            date: "Wed, 03 Jan 2024 10:\(number):00 GMT")
          item.extra = "<description>About \(word) \(number)</description>"
          return item
        }
      ).page
    }
    world.web.set("/feed", page("foghorns"))
    let podcast = try world.podcast()
    try world.refresh(podcast)
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    let before = try Self.pagesWritten(file)
    world.web.set("/feed", page("lighthouses"))
    try world.refresh(podcast)
    #expect(try Self.pagesWritten(file) - before < 20)
    #expect(try found(world.catalog, "foghorns").isEmpty)
    #expect(try found(world.catalog, "lighthouses") == ["Harbour Lights"])
    // What is changed but for its texts costs the index nothing.
    let then = try Self.pagesWritten(file)
    world.web.set("/feed", page("lighthouses", at: "other"))
    try world.refresh(podcast)
    #expect(try Self.pagesWritten(file) == then)
    #expect(try found(world.catalog, "lighthouses") == ["Harbour Lights"])
  }

  /// A command brings much and ends; a mount has it in its index soon.
  @Test func whatACommandBringsIsIndexedByAMount() throws {
    let world = try CatalogWorld()
    let mount = try world.open()
    defer { mount.close() }
    mount.startScheduler()
    let items = (0..<300).map { TestFeed.Item("Foghorn \($0)", guid: "\($0)") }
    world.web.set("/feed", TestFeed(items: items).page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    #expect(
      try eventually {
        try file.first("SELECT indexed_upto FROM podcast WHERE id = ?", podcast) { $0.int(0) } == 300
      })
    #expect(try found(mount, "foghorn") == ["Harbour Lights"])
  }

  @Test func scriptsWithoutBlanksAreFoundByTheirCharacters() throws {
    let world = try CatalogWorld()
    world.web.set(
      "/feed", TestFeed(items: [.init("東京の朝", guid: "1"), .init("Grüße aus Köln", guid: "2")]).page)
    try world.refresh(try world.podcast())
    #expect(try found(world.catalog, "東京") == ["Harbour Lights"])
    #expect(
      try found(world.catalog, "kol gru") == ["Harbour Lights"]
        || found(world.catalog, "koln") == ["Harbour Lights"])
    #expect(try found(world.catalog, "大阪").isEmpty)
    #expect(try found(world.catalog, "\" OR * ^ NEAR( :").isEmpty)
  }

  /// Whole words, and beginnings of any length.
  @Test(
    arguments: [
      "f", "g", "foghorns", "foghorn", "fogho", "fog", "fo", "grüße", "gru", "foghorns grü", "grüß", "здравс",
      "österr",
    ])
  func wordsAndTheirBeginningsAreFound(words: String) throws {
    let world = try CatalogWorld()
    let title = "Foghorns and Grüße, Österreich, здравствуйте"
    world.web.set("/feed", TestFeed(items: [.init(title, guid: "1")]).page)
    try world.refresh(try world.podcast())
    #expect(try eventually { try found(world.catalog, words) == ["Harbour Lights"] })
    #expect(try found(world.catalog, words + "x").isEmpty)
  }

  /// A text leaves the index only as it was put in. A file whose texts were made by other rules has to be set aside.
  @Test func otherRulesOfTextsNeedAnotherVersionOfTheFile() {
    let text =
      "<p>Über <a href='x'>Łódź</a> &amp; ёлки, Αθήνα</p>サッカー &#x2019;Æsop&nbsp;<script>x</script>שָׁלוֹם a\u{301}"
    let words = SearchText.indexed(text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(
      words == "Über Lódź & елки, Αθηνα サ ッ カ ー ’AEsop שלום a",
      "raise Schema.version, and put the new words here")
  }

  /// How many pages the index of episodes has written so far.
  private static func pagesWritten(_ file: Database) throws -> Int {
    try structure(of: "episode_text", in: file)[2]
  }

  /// The first numbers of an index's structure record (fts5_index.c): its levels, segments and pages written.
  private static func structure(of table: String, in file: Database) throws -> [Int] {
    let record = try file.first("SELECT block FROM \(table)_data WHERE id = 10") { $0.blob(0) }
    var numbers: [Int] = []
    var number = 0
    for byte in try #require(record).dropFirst(4) {
      number = number << 7 | Int(byte & 0x7f)
      if byte < 0x80 {
        numbers.append(number)
        number = 0
      }
    }
    return numbers
  }

  /// FTS5's own check of the index's structure.
  static func check(_ path: String) throws {
    let file = try Database(path: path)
    for table in ["podcast_text", "episode_text"] {
      try file.run("INSERT INTO \(table) (\(table)) VALUES ('integrity-check')")
    }
  }
}
