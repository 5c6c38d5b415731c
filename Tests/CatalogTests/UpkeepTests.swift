import Catalog
import Configuration
import Glibc
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// What leaves the catalogue, and what stays.
@Suite struct UpkeepTests {
  private func fill(_ world: CatalogWorld, _ path: String, count: Int = 30) {
    let items = (0..<count).map { number in
      var item = TestFeed.Item(
        "Episode \(number)", guid: "\(path)\(number)", url: "http://m.example\(path)/\(number).mp3")
      item.extra =
        "<description>\(String(repeating: "foghorn \(path.dropFirst()) ", count: 200))</description>"
      return item
    }
    world.web.set(path, TestFeed(title: "Podcast \(path.dropFirst())", items: items).page)
  }

  private func rows(_ world: CatalogWorld, _ table: String) throws -> Int {
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    return try file.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? 0
  }

  @Test func aForgottenPodcastLeavesNothing() throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    for path in ["/a", "/b"] { fill(world, path) }
    world.web.set("/search", world.web.answer([("A", "/a"), ("B", "/b")]))
    let search = try world.search("x")
    let first = try catalog.subscribe(result: try #require(try catalog.results(ofSearch: search.id).first).id)
    for listed in try catalog.results(ofSearch: search.id) { try world.refresh(listed.podcast.id) }
    try world.refresh(first.podcast.id)
    let keys = try catalog.episodes(ofPodcast: first.podcast.id).map(\.mediaKey)
    #expect(try Set(catalog.forget(podcast: first.podcast.id)) == Set(keys))
    #expect(try catalog.podcast(first.podcast.id) == nil)
    #expect(try catalog.subscriptions().isEmpty)
    #expect(try rows(world, "episode") == 30)
    #expect(try rows(world, "notes") == 30)
    #expect(try rows(world, "pragma_freelist_count WHERE freelist_count > 20") == 0, "room was given back")
    #expect(
      try catalog.titles(ofEpisodesWith: "foghorn") == ["Podcast b"]
    )
    let error = #expect(throws: CatalogError.self) { try catalog.forget(podcast: first.podcast.id) }
    #expect(error?.errno == .ENOENT)
    try FullTextTests.check("\(world.home.places.data)/catalog.sqlite")
    // It may come again, as a new one.
    let again = try catalog.subscribe(feedURL: "\(world.web.address)/a")
    #expect(again.podcast.id > first.podcast.id)
    try world.refresh(again.podcast.id)
    #expect(try catalog.episodes(ofPodcast: again.podcast.id).count == 30)
  }

  /// Whoever forgets may be killed amid it: what is left goes with the next mount, or the next `forget`.
  @Test(arguments: [true, false]) func whatIsLeftOfAForgottenPodcastGoesLater(isMounted: Bool) throws {
    let world = try CatalogWorld()
    fill(world, "/a")
    let podcast = try world.catalog.subscribe(feedURL: "\(world.web.address)/a").podcast.id
    try world.refresh(podcast)
    // What is done once a day has been done.
    try world.catalog.forgetUnused(keeping: [])
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    try file.run("DELETE FROM subscription")
    try file.script("DELETE FROM feed; UPDATE podcast SET is_forgotten = 1, name_key = 'forgotten'")
    #expect(try rows(world, "episode") == 30)
    if isMounted { world.catalog.startScheduler() } else { try world.catalog.finishForgetting() }
    #expect(try eventually { try rows(world, "podcast") == 0 })
    #expect(try rows(world, "episode") + rows(world, "notes") == 0)
  }

  @Test func whatNobodyWantsAnyMoreGoesAfterAWhile() throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    var ids: [String: Int64] = [:]
    for path in ["/followed", "/shown", "/cached", "/unused", "/recent"] {
      fill(world, path, count: 3)
      world.web.set("/search", world.web.answer([(path, path)]))
      let search = try world.search("for \(path)")
      let listed = try #require(try catalog.results(ofSearch: search.id).first)
      ids[path] = listed.podcast.id
      try world.refresh(listed.podcast.id)
      if path == "/followed" { _ = try catalog.subscribe(feedURL: "\(world.web.address)\(path)") }
      if path != "/shown" { try catalog.forgetSearch(search.id) }
    }
    let cached = try catalog.episodes(ofPodcast: try #require(ids["/cached"])).map(\.mediaKey)
    world.advance(40 * 86_400)
    try world.refresh(try #require(ids["/recent"]))
    try catalog.forgetUnused(keeping: [cached[1]])
    let left = try ids.filter { try catalog.podcast($0.value) != nil }.map(\.key).sorted()
    #expect(left == ["/cached", "/followed", "/recent", "/shown"])
  }

  @Test func theCatalogueStaysWithinItsBound() throws {
    let world = try CatalogWorld { $0.catalogueSize = 1 << 20 }
    let catalog = world.catalog
    world.web.set("/search", world.web.answer((0..<12).map { ("P\($0)", "/p\($0)") }))
    let search = try world.search("many")
    for (number, listed) in try catalog.results(ofSearch: search.id).enumerated() {
      fill(world, "/p\(number)", count: 100)
      try world.refresh(listed.podcast.id)
    }
    #expect(try catalog.usedBytes() > 2 << 20)
    world.advance(3000)
    try catalog.forgetUnused(keeping: [])
    #expect(try catalog.results(ofSearch: search.id).allSatisfy(\.podcast.isFetched), "asked for just now")
    world.advance(1200)
    try catalog.forgetUnused(keeping: [])
    #expect(try catalog.usedBytes() <= 1 << 20)
    let listed = try catalog.results(ofSearch: search.id)
    #expect(listed.count == 12, "the search still shows them")
    #expect(listed.contains { !$0.podcast.isFetched })
    let emptied = try #require(listed.first { !$0.podcast.isFetched }).podcast.id
    #expect(try catalog.episodes(ofPodcast: emptied).isEmpty)
    try world.refresh(emptied, .firstLook)
    #expect(try catalog.episodes(ofPodcast: emptied).count == 100)
    try FullTextTests.check("\(world.home.places.data)/catalog.sqlite")
  }

  /// The index keeps what was taken out of it until it is merged.
  @Test func `No more is forgotten than it takes`() throws {
    let world = try CatalogWorld()
    let paths = (0..<10).map { "/p\($0)" }
    world.web.set("/search", world.web.answer(paths.map { ($0, $0) }))
    let search = try world.search("many")
    for (listed, path) in zip(try world.catalog.results(ofSearch: search.id), paths) {
      let items = (0..<60).map { number in
        var item = TestFeed.Item(
          "Episode \(number)", guid: "\(number)", url: "http://m.example\(path)/\(number).mp3")
        let words = (0..<100).map { "w\(path.dropFirst())x\(($0 * 7919 + number * 104729) % 9973)" }
        item.extra = "<description>\(words.joined(separator: " "))</description>"
        return item
      }
      world.web.set(path, TestFeed(title: path, items: items).page)
      try world.refresh(listed.podcast.id)
    }
    try world.catalog.fillTexts()
    try world.catalog.forgetSearch(search.id)
    let full = try world.catalog.usedBytes()
    world.advance(7200)
    let limited = try world.open { $0.catalogueSize = full * 3 / 4 }
    defer { limited.close() }
    try limited.forgetUnused(keeping: [])
    #expect(try limited.usedBytes() <= full * 3 / 4)
    let left = try rows(world, "podcast")
    #expect((6...8).contains(left), "\(left) of 10")
    try FullTextTests.check("\(world.home.places.data)/catalog.sqlite")
  }

  /// By a process that refreshes, long before the next look of every day.
  @Test func `A catalogue that grows beyond its bound is made smaller soon`() throws {
    let world = try CatalogWorld { $0.catalogueSize = 1 << 20 }
    let catalog = world.catalog
    world.web.set("/search", world.web.answer((0..<12).map { ("P\($0)", "/p\($0)") }))
    let results = try catalog.results(ofSearch: world.search("many").id)
    catalog.startScheduler()
    try catalog.forgetUnused(keeping: [])
    for (number, listed) in results.enumerated() {
      fill(world, "/p\(number)", count: 100)
      try world.refresh(listed.podcast.id)
    }
    #expect(try catalog.usedBytes() > 2 << 20)
    world.advance(7200)
    // Whatever happens wakes the thread that looks after the catalogue.
    try world.refresh(results[0].podcast.id)
    #expect(try eventually { try catalog.usedBytes() <= 1 << 20 })
  }

  /// Also of its words in the full-text index, and while others stay.
  @Test func ofWhatIsForgottenNoWordIsLeftInTheFile() throws {
    let world = try CatalogWorld()
    for (path, word) in [("/a", "zzyzxquarry"), ("/b", "lighthouse")] {
      let items = (0..<150).map { number in
        var item = TestFeed.Item("\(word) \(number)", guid: "\(number)")
        item.extra = "<description>about \(word) and ships \(number)</description>"
        return item
      }
      world.web.set(path, TestFeed(title: "Podcast \(path)", items: items).page)
      let podcast = try world.podcast(path)
      try world.refresh(podcast)
      #expect(
        try eventually {
          try world.catalog.titles(ofEpisodesWith: word).count == 1
        })
    }
    let path = "\(world.home.places.data)/catalog.sqlite"
    func holds(_ word: String) throws -> Bool {
      world.catalog.close()
      return try Directories.read(path, limit: 1 << 30).firstRange(of: Array(word.utf8)) != nil
    }
    let podcast = try #require(try world.catalog.podcast(feedURL: "\(world.web.address)/a"))
    _ = try world.catalog.forget(podcast: podcast.id)
    #expect(try world.catalog.titles(ofEpisodesWith: "lighthouse").count == 1)
    // Words that follow each other in the index share their beginnings.
    #expect(try !holds("zxquarry"))
    #expect(try holds("ghthouse"))
    try FullTextTests.check(path)
  }

  /// Whoever deletes the rest of it, after the process that forgot has died.
  @Test func `Of what is forgotten no word is left by whoever finishes`() throws {
    let world = try CatalogWorld()
    for (path, word) in [("/a", "zzyzxquarry"), ("/b", "lighthouse")] {
      world.web.set(
        path,
        TestFeed(title: "Podcast \(path)", items: (0..<150).map { .init("\(word) \($0)", guid: "\($0)") })
          .page)
      let podcast = try world.podcast(path)
      try world.refresh(podcast)
      #expect(try world.catalog.titles(ofEpisodesWith: word).count == 1)
    }
    let podcast = try #require(try world.catalog.podcast(feedURL: "\(world.web.address)/a")).id
    let file = try world.file()
    try file.run("CREATE TRIGGER dies BEFORE DELETE ON episode BEGIN SELECT RAISE(FAIL, 'killed'); END")
    #expect(throws: CatalogError.self) { try world.catalog.forget(podcast: podcast) }
    try file.run("DROP TRIGGER dies")
    // What is not yet deleted is put into no index again.
    #expect(try world.catalog.titles(ofEpisodesWith: "lighthouse").count == 1)
    try world.catalog.forgetUnused(keeping: [])
    #expect(try rows(world, "podcast") == 1)
    world.catalog.close()
    let path = "\(world.home.places.data)/catalog.sqlite"
    #expect(try Directories.read(path, limit: 1 << 30).firstRange(of: Array("zxquarry".utf8)) == nil)
    try FullTextTests.check(path)
  }

  @Test func `What a backup said of a forgotten podcast is forgotten, too`() throws {
    let world = try CatalogWorld()
    let feed = "\(world.web.address)/never?token=SECRET"
    let state = """
      {"podcastfs_state": 1, "subscriptions": [{"feed_url": "\(feed)", "title": "Lights"}], "episodes": [{"feed_url":
      "\(feed)", "url": "http://m.example/1.mp3", "guid": "g1", "played": true, "changed": "2024-01-01T00:00:00Z"}]}
      """
    #expect(try world.catalog.importOPML(Array(state.utf8)).awaited == 1)
    _ = try world.catalog.forget(podcast: try #require(try world.catalog.subscriptions().first).podcast.id)
    #expect(try rows(world, "awaited_report") == 0)
  }

  /// Within a write transaction, for which all verbs wait.
  @Test func `A podcast goes without a look at all episodes`() throws {
    let plan = try CatalogWorld().file().all("EXPLAIN QUERY PLAN SELECT 1 FROM episode WHERE podcast_id = 1")
    {
      $0.string(3)
    }
    #expect(plan.count == 1 && plan[0].hasPrefix("SEARCH episode USING"), "\(plan)")
  }

  @Test func `What is left of a forgotten podcast is found by nobody`() throws {
    let world = try CatalogWorld()
    fill(world, "/a")
    let podcast = try world.catalog.subscribe(feedURL: "\(world.web.address)/a").podcast.id
    try world.refresh(podcast)
    let found = { try world.catalog.titles(ofEpisodesWith: "foghorn").count }
    #expect(try eventually { try found() == 1 })
    let key = try #require(try world.catalog.episodes(ofPodcast: podcast).first).mediaKey
    // As a process leaves it that is killed amid it.
    let file = try world.file()
    try file.run("DELETE FROM subscription")
    try file.script(
      """
      DELETE FROM feed; UPDATE podcast SET is_forgotten = 1, name_key = 'forgotten', title = '', name = ''
      """)
    #expect(try found() == 0)
    #expect(try world.search("foghorn source:local").resultCount == 0)
    #expect(try world.catalog.entries(forKeys: [key]).isEmpty)
    #expect(try world.catalog.podcast(podcast) == nil)
  }

  @Test func `A damaged row ends no process`() throws {
    let world = try CatalogWorld()
    fill(world, "/a", count: 3)
    let podcast = try world.catalog.subscribe(feedURL: "\(world.web.address)/a").podcast.id
    try world.refresh(podcast)
    try world.file().run("UPDATE episode SET media_key = x'0102' WHERE id % 2 = 0")
    try world.file().script(
      """
      UPDATE podcast SET next_episode = -9223372036854775808, revision = 9223372036854775807;
      UPDATE feed SET next_refresh = -9223372036854775808, failures = 9223372036854775807, memory = randomblob(90)
      """)
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 3)
    #expect(try world.catalog.listedEpisodes(ofPodcast: podcast) { $0.mediaKey }.count == 3)
    #expect(try world.catalog.latest(limit: 5).count == 3)
    #expect(try world.catalog.mediaKeys(ofPodcast: podcast).count == 3)
    fill(world, "/a", count: 5)
    _ = try? world.refresh(podcast)
    world.catalog.startScheduler()
    _ = world.catalog.waitForRefreshes(seconds: patience)
  }

  @Test func `A catalogue of another version is set aside, which is said`() throws {
    let home = try TemporaryPlaces()
    try Directories.createPrivate(home.places.data)
    try Directories.createPrivate(home.places.state)
    let path = "\(home.places.data)/catalog.sqlite"
    try Database(path: path).script("CREATE TABLE podcast (x); PRAGMA user_version = 15")
    #expect(CatalogCondition(ofFile: path) == .otherVersion(15))
    let world = try CatalogWorld()
    let catalog = try Catalog(
      places: home.places, settings: world.settings, http: world.http, feedReader: .shipped)
    defer { catalog.close() }
    #expect(catalog.takeNote()?.contains("\(path).version-15") == true)
    let log = String(decoding: try Directories.read(home.places.logFile), as: UTF8.self)
    #expect(log.contains("version-15"))
    _ = try catalog.subscribe(feedURL: "http://a.example/")
    let old = try Database(path: path + ".version-15")
    #expect(try old.exists("SELECT 1 FROM sqlite_schema WHERE sql = 'CREATE TABLE podcast (x)'"))
    let again = try Catalog(
      places: home.places, settings: world.settings, http: world.http, feedReader: .shipped)
    defer { again.close() }
    #expect(try again.takeNote() == nil && again.subscriptions().count == 1)
  }

  @Test(arguments: [true, false])
  func `Subscriptions come back where the catalogue is lost`(isClosed: Bool) throws {
    let home = try TemporaryPlaces()
    let world = try CatalogWorld()
    func open() throws -> Catalog {
      try Catalog(places: home.places, settings: world.settings, http: world.http, feedReader: .shipped)
    }
    let lost = try open()
    defer { lost.close() }
    let listed = try lost.subscribe(feedURL: "http://user:word@a.example/feed", title: "Lights")
    try lost.rename(subscription: listed.id, to: "Mine")
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    _ = try lost.subscribe(feedURL: "\(world.web.address)/feed", title: "Other")
    try lost.unsubscribe(try lost.subscribe(feedURL: "http://c.example/feed").id)
    let copy = "\(home.places.data)/subscriptions.opml"
    if isClosed {
      lost.close()
    } else {
      #expect(
        eventually {
          (try? Directories.read(copy)).map { !String(decoding: $0, as: UTF8.self).contains("c.example") }
            ?? false
        })
    }
    // The copy also says which feeds may be private.
    let marks = [" podcastfs:private=\"true\"", " xmlns:podcastfs=\"urn:podcastfs\""]
    let copied = String(decoding: try Directories.read(copy), as: UTF8.self)
    #expect(marks.allSatisfy(copied.contains))
    #expect(
      try Array(marks.reduce(copied) { $0.replacing($1, with: "") }.utf8) == lost.exportOPML())
    for ending in ["", "-wal", "-shm"] { unlink("\(home.places.data)/catalog.sqlite\(ending)") }
    let catalog = try open()
    defer { catalog.close() }
    #expect(try catalog.subscriptions().map(\.name) == ["Mine", "Other"])
    #expect(try catalog.subscriptions().first?.podcast.feedURL == "http://user:word@a.example/feed")
    #expect(catalog.takeNote()?.contains("2 subscriptions came back") == true)
    // A feed of the private network, whose address the user once typed, is fetched.
    let other = try #require(try catalog.subscriptions().last).podcast.id
    let outcome = Waiting.result(within: patience) {
      catalog.refresh(podcast: other, cause: .forced, completion: $0)
    }
    #expect(try outcome?.get().newEpisodes.count == 1)
  }

  @Test func `A process that dies before it has read the list of a lost catalogue leaves it to the next one`()
    throws
  {
    let home = try TemporaryPlaces()
    let world = try CatalogWorld()
    func open() throws -> Catalog {
      try Catalog(places: home.places, settings: world.settings, http: world.http, feedReader: .shipped)
    }
    let lost = try open()
    for name in ["a", "b", "c"] { _ = try lost.subscribe(feedURL: "http://\(name).example/feed") }
    lost.close()
    let (file, copy) = ("\(home.places.data)/catalog.sqlite", "\(home.places.data)/subscriptions.opml")
    let list = try Directories.read(copy)
    for ending in ["", "-wal", "-shm"] { unlink(file + ending) }
    // As that process leaves it: tables with nothing in them, beside a list that was not read.
    unlink(copy)
    try open().close()
    try Database(path: file).run("UPDATE counter SET list_read = 0")
    try Directories.replace(copy, with: list)
    let catalog = try open()
    #expect(try catalog.subscriptions().count == 3)
    catalog.close()
    // All but its date.
    let lines = { (text: [UInt8]) in
      String(decoding: text, as: UTF8.self).split(separator: "\n").filter { !$0.contains("dateCreated") }
    }
    #expect(lines(try Directories.read(copy)) == lines(list))
    let again = try open()
    defer { again.close() }
    #expect(again.takeNote() == nil)
  }
}
