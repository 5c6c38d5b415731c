import Catalog
import Configuration
import FeedKit
import Glibc
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// A damaged file costs what only it held.
@Suite struct DamageTests {
  private let world: CatalogWorld
  private let home: TemporaryPlaces

  init() throws {
    (world, home) = (try CatalogWorld(), try TemporaryPlaces())
    try Directories.createPrivate(home.places.state)
  }

  private var path: String { "\(home.places.data)/catalog.sqlite" }

  private func open() throws -> Catalog {
    try Catalog(places: home.places, settings: world.settings, http: world.http, feedReader: .shipped)
  }

  @Test(arguments: ["all of it", "its end", "its pages"])
  func `A damaged catalogue is set aside, and the subscriptions come back`(what: String) throws {
    let first = try open()
    for name in ["a", "b", "c"] { _ = try first.subscribe(feedURL: "http://\(name).example/feed") }
    first.close()
    for ending in ["-wal", "-shm"] { unlink(path + ending) }
    var bytes = try Directories.read(path)
    switch what {
    case "all of it": bytes = Array(repeating: 7, count: bytes.count)
    case "its end": bytes.removeLast(bytes.count / 2)
    default: for place in 6 * 4096..<bytes.count where place % 4096 < 2000 { bytes[place] = 0xAA }
    }
    try Directories.replace(path, with: bytes)
    let catalog = try open()
    defer { catalog.close() }
    #expect(try catalog.subscriptions().count == 3)
    let note = try #require(catalog.takeNote())
    #expect(note.contains("damaged") && note.contains("set aside as \(path).damaged, "), "\(note)")
    #expect(note.contains("3 subscriptions came back"), "\(note)")
    let log = String(decoding: try Directories.read(home.places.logFile), as: UTF8.self)
    #expect(log.contains("\(path).damaged"))
    #expect(try Directories.read(path + ".damaged") == bytes)
    let again = try open()
    defer { again.close() }
    #expect(try again.takeNote() == nil && again.subscriptions().count == 3)
  }

  /// Damage in pages that only some statements come upon.
  @Test(arguments: [
    "episode", "notes", "counter", "subscription", "podcast", "episode_by_date",
    "sqlite_autoindex_subscription_2",
  ])
  func `Damage that is met later is set aside too`(table: String) throws {
    world.web.set("/feed", TestFeed(items: TestFeed.items(0..<40)).page)
    let first = try open()
    for name in ["a", "b"] { _ = try first.subscribe(feedURL: "http://\(name).example/feed") }
    let known = try wait { first.subscribe(address: "\(world.web.address)/feed", completion: $0) }
    let page = try #require(
      try Database(path: path).number("SELECT rootpage FROM sqlite_schema WHERE name = ?", table))
    first.close()
    for ending in ["-wal", "-shm"] { unlink(path + ending) }
    var bytes = try Directories.read(path)
    for place in Int(page - 1) * 4096..<Int(page) * 4096 { bytes[place] = 0xAA }
    try Directories.replace(path, with: bytes)
    let damaged = try open()
    let isKnown = damaged.takeNote() != nil
    let isReplaced = Monitor(false)
    damaged.observeReplacement { isReplaced.withLockNotifying { $0 = true } }
    _ = try? damaged.episodes(from: known.podcast.id << 20, count: 5)
    _ = try? damaged.latest(limit: 10)
    _ = try? damaged.rename(subscription: known.id, to: "Another")
    if !isKnown {
      #expect(damaged.takeNote()?.contains("set aside as \(path).damaged") == true)
      #expect(isReplaced.wait(until: .after(patience)) { $0 ? true : nil } == true)
      #expect(throws: CatalogError.self) { try damaged.rename(subscription: known.id, to: "Third") }
    }
    damaged.close()
    let catalog = try open()
    defer { catalog.close() }
    #expect(try catalog.subscriptions().count == 3)
    #expect(try Directories.read(path + ".damaged") == bytes)
    let log = String(decoding: try Directories.read(home.places.logFile), as: UTF8.self)
    #expect(log.contains("set aside as \(path).damaged"), "\(log)")
    #expect(!Directories.exists(path + ".damaged-2"))
  }

  /// Or the user has removed that alone, while a mount has it open.
  @Test func `A process that ends when it has renamed only the first file leaves nothing in the way`() throws
  {
    let old = try open()
    defer { old.close() }
    _ = try old.subscribe(feedURL: "http://a.example/feed")
    #expect(eventually { Directories.exists("\(home.places.data)/subscriptions.opml") })
    _ = try old.subscribe(feedURL: "http://b.example/feed")
    let log = try Directories.read(path + "-wal")
    #expect(!log.isEmpty && rename(path, path + ".damaged") == 0)
    for _ in 0..<2 {
      let catalog = try open()
      defer { catalog.close() }
      #expect(try !catalog.subscriptions().isEmpty)
    }
    #expect(try Directories.read(path + ".damaged-wal").starts(with: log))
  }

  /// Typed or not: only what the user typed leads to the private network after that, too.
  @Test(arguments: [true, false])
  func `A stranger's feed is no more trusted after a loss`(isTyped: Bool) throws {
    world.web.set("/typed", TestFeed(title: "Mine", items: [.init("One", guid: "1")]).page)
    world.web.set("/listed", TestFeed(title: "Listed", items: [.init("One", guid: "1")]).page)
    let list = """
      <opml version="2.0" xmlns:podcastfs="urn:podcastfs"><body>
      <outline type="rss" podcastfs:private="true" text="Router" xmlUrl="\(world.web.address)/listed"/>
      </body></opml>
      """
    let first = try open()
    #expect(try first.importOPML(Array(list.utf8)).added == 1)
    if isTyped {
      let answer = Waiting.result(within: patience) {
        first.subscribe(address: "\(world.web.address)/listed", completion: $0)
      }
      #expect(throws: CatalogError.self) { try answer?.get() }
      let listed = try #require(try first.subscriptions().first).podcast.id
      #expect(
        Waiting.result(within: patience) { first.refresh(podcast: listed, cause: .forced, completion: $0) }
          != nil)
    }
    _ = try first.subscribe(feedURL: "\(world.web.address)/typed")
    first.close()
    let asked = world.web.requests("/listed").count
    #expect(isTyped == (asked > 0))
    // The second time from the list that the new catalogue has written.
    for _ in 1...2 {
      for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
      try open().close()
    }
    let catalog = try open()
    defer { catalog.close() }
    for podcast in try catalog.subscriptions().map(\.podcast) {
      let outcome = Waiting.result(within: patience) {
        catalog.refresh(podcast: podcast.id, cause: .firstLook, completion: $0)
      }
      let isAllowed = isTyped || podcast.feedURL.forRequest.hasSuffix("/typed")
      #expect((try? outcome?.get().newEpisodes.count) == (isAllowed ? 1 : nil), "\(podcast.feedURL)")
    }
    #expect(world.web.requests("/typed").count == 1)
    #expect((world.web.requests("/listed").count > asked) == isTyped)
  }

  @Test func `Each list that cannot be read whole is kept`() throws {
    let copy = "\(home.places.data)/subscriptions.opml"
    let first = try open()
    _ = try first.subscribe(feedURL: "http://a.example/feed")
    first.close()
    let lists = try ["<rss/>", String(decoding: Directories.read(copy).dropLast(5), as: UTF8.self)]
    for (list, name) in zip(lists, ["\(copy).unread", "\(copy).unread-2"]) {
      for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
      try Directories.replace(copy, with: Array(list.utf8))
      let catalog = try open()
      let note = try #require(catalog.takeNote())
      #expect(note.hasSuffix("see \(name)"), "\(note)")
      if list == lists[1] { #expect(note.hasPrefix("1 subscription came back")) }
      catalog.close()
    }
    for (list, name) in zip(lists, ["\(copy).unread", "\(copy).unread-2"]) {
      #expect(try Directories.read(name) == Array(list.utf8))
    }
  }

  @Test(arguments: [
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n  <head>\n    <title>podcastfs subsc",
    "<opml version=\"2.0\"><head/><body><outline type=\"rss\" text=\"A\" xmlUrl=\"htp:/broken\"/></body></opml>",
  ])
  func `A list that cannot be read whole is not written over`(list: String) throws {
    try Directories.createPrivate(home.places.data)
    let copy = "\(home.places.data)/subscriptions.opml"
    try Directories.replace(copy, with: Array(list.utf8))
    let catalog = try open()
    #expect(catalog.takeNote()?.contains("\(copy).unread") == true)
    _ = try catalog.subscribe(feedURL: "http://a.example/feed")
    catalog.close()
    #expect(try Directories.read(copy + ".unread") == Array(list.utf8))
    #expect(String(decoding: try Directories.read(copy), as: UTF8.self).contains("a.example"))
  }

  @Test(arguments: [true, false], ["episode_text", "podcast_text"])
  func `A damaged full-text index is made anew`(isEmpty: Bool, table: String) throws {
    let catalog = world.catalog
    for path in ["/a", "/b"] {
      world.web.set(path, TestFeed(title: "Podcast \(path)", items: [.init("Zebra", guid: path)]).page)
      try world.refresh(try world.podcast(path))
    }
    let podcast = try #require(try catalog.podcast(feedURL: "\(world.web.address)/a")).id
    #expect(try catalog.titles(ofEpisodesWith: "zebra").count == 2)
    let damage =
      isEmpty
      ? "DELETE FROM \(table)_data" : "UPDATE \(table)_data SET block = x'00000000FFFFFF7F' WHERE id = 10"
    try world.file().run(damage)
    _ = try? catalog.titles(ofEpisodesWith: "zebra")
    _ = try? world.search("podcast source:local")
    #expect(try catalog.titles(ofEpisodesWith: "zebra").count == 2)
    #expect(try world.search("podcast again source:local").resultCount == 0)
    #expect(try world.search("podcast limit:9 source:local").resultCount == 2)
    try world.file().run(damage)
    _ = try catalog.forget(podcast: podcast)
    #expect(try catalog.titles(ofEpisodesWith: "zebra") == ["Podcast /b"])
    try FullTextTests.check("\(world.home.places.data)/catalog.sqlite")
  }

  @Test(arguments: [S_IFIFO, S_IFDIR])
  func `A list that is no file is told and moved away`(kind: UInt32) throws {
    try Directories.createPrivate(home.places.data)
    let copy = "\(home.places.data)/subscriptions.opml"
    #expect((kind == S_IFIFO ? mkfifo(copy, 0o600) : mkdir(copy, 0o700)) == 0)
    let catalog = try open()
    let note = try #require(catalog.takeNote())
    #expect(note.contains("not a regular file") && note.hasSuffix("see \(copy).unread"), "\(note)")
    _ = try catalog.subscribe(feedURL: "http://a.example/feed")
    catalog.close()
    #expect(String(decoding: try Directories.read(copy), as: UTF8.self).contains("a.example"))
  }

  @Test func `A copy of the subscriptions that cannot be read is not written over`() throws {
    try Directories.createPrivate(home.places.data)
    let copy = "\(home.places.data)/subscriptions.opml"
    try Directories.replace(copy, with: Array("<rss/>".utf8))
    let catalog = try Catalog(
      places: home.places, settings: world.settings, http: world.http, feedReader: .shipped)
    #expect(catalog.takeNote()?.contains("\(copy).unread") == true)
    _ = try catalog.subscribe(feedURL: "http://a.example/feed")
    catalog.close()
    #expect(try Directories.read(copy + ".unread") == Array("<rss/>".utf8))
    #expect(try Directories.read(copy).count > 100)
  }

  /// Whatever stops the reading but what is in the file: the list stays until it can be read.
  @Test(arguments: ["/bin/false", "/no/such/program"])
  func `A list that could not be read just now is read by the next process`(parser: String) throws {
    let copy = "\(home.places.data)/subscriptions.opml"
    let first = try open()
    for name in ["a", "b"] { _ = try first.subscribe(feedURL: "http://\(name).example/feed") }
    first.close()
    let list = try Directories.read(copy)
    for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
    let failing = try Catalog(
      places: home.places, settings: world.settings, http: world.http, feedReader: .program(parser))
    #expect(failing.takeNote()?.contains("tries again to read \(copy)") == true)
    _ = try failing.subscribe(feedURL: "http://c.example/feed")
    failing.close()
    #expect(try Directories.read(copy) == list)
    #expect(!Directories.exists(copy + ".unread"))
    let next = try open()
    #expect(next.takeNote()?.contains("2 subscriptions came back") == true)
    #expect(try next.subscriptions().count == 3)
    next.close()
    let written = String(decoding: try Directories.read(copy), as: UTF8.self)
    for name in ["a", "b", "c"] { #expect(written.contains("http://\(name).example/feed")) }
  }

  @Test func `A list at which the parser always fails is moved away in the end`() throws {
    let copy = "\(home.places.data)/subscriptions.opml"
    try Directories.createPrivate(home.places.data)
    let list = Array("<opml version='2.0'><body/></opml>".utf8)
    try Directories.replace(copy, with: list)
    for last in 1...11 {
      let catalog = try Catalog(
        places: home.places, settings: world.settings, http: world.http, feedReader: .program("/bin/false"))
      defer { catalog.close() }
      let note = catalog.takeNote()
      switch last {
      case ...9: #expect(note?.contains("tries again to read") == true, "\(last): \(note ?? "")")
      case 10: #expect(note?.hasSuffix("see \(copy).unread") == true, "\(note ?? "")")
      default: #expect(note == nil)
      }
    }
    #expect(try Directories.read(copy + ".unread") == list)
  }

  @Test func `A list is not replaced by one with fewer entries than there are subscriptions`() throws {
    let copy = "\(home.places.data)/subscriptions.opml"
    let first = try open()
    for name in ["a", "b"] { _ = try first.subscribe(feedURL: "http://\(name).example/feed") }
    first.close()
    let list = try Directories.read(copy)
    let file = try Database(path: path)
    try file.script("PRAGMA foreign_keys = 0; DELETE FROM feed WHERE feed_url LIKE 'http://a.%'")
    let catalog = try open()
    _ = try catalog.subscribe(feedURL: "http://c.example/feed")
    catalog.close()
    #expect(try Directories.read(copy) == list)
    let log = String(decoding: try Directories.read(home.places.logFile), as: UTF8.self)
    #expect(log.contains("of 3 subscriptions only 2 are whole"), "\(log)")
  }

  /// What only the rows have stays: marks and rules.
  @Test(
    arguments: [
      "podcast_text_data", "podcast_text_idx", "podcast_text_docsize", "podcast_text_config",
      "episode_text_data", "episode_text_idx", "episode_text_config",
    ], [0, 0xAA] as [UInt8])
  func `Damaged pages of the full-text index cost the index only`(table: String, byte: UInt8) throws {
    world.web.set("/feed", TestFeed(items: TestFeed.items(0..<40)).page)
    let first = try open()
    let known = try wait { first.subscribe(address: "\(world.web.address)/feed", completion: $0) }
    #expect(try first.titles(ofEpisodesWith: "episode") == ["Harbour Lights"])
    let episode = try #require(try first.episodes(ofPodcast: known.podcast.id).first)
    try first.setPlayed(true, episode: episode.id)
    let page = try #require(
      try Database(path: path).number("SELECT rootpage FROM sqlite_schema WHERE name = ?", table))
    first.close()
    for ending in ["-wal", "-shm"] { unlink(path + ending) }
    var bytes = try Directories.read(path)
    for place in Int(page - 1) * 4096..<Int(page) * 4096 { bytes[place] = byte }
    try Directories.replace(path, with: bytes)
    let catalog = try open()
    defer { catalog.close() }
    // Reads and writes may come upon it: each once at most.
    _ = try? catalog.titles(ofEpisodesWith: "episode")
    world.web.set("/feed", TestFeed(title: "Lights", items: TestFeed.items(0..<41)).page)
    _ = try wait { catalog.refresh(podcast: known.podcast.id, cause: .forced, completion: $0) }
    let search = try wait { catalog.search("lights source:local", replacing: nil, completion: $0) }
    #expect(search.resultCount == 1)
    #expect(try catalog.titles(ofEpisodesWith: "episode") == ["Lights"])
    #expect(try catalog.episode(episode.id)?.played == true)
    #expect(!Directories.exists(path + ".damaged"))
    try FullTextTests.check(path)
  }
}
