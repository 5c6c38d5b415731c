import Catalog
import Configuration
import FeedKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Backups of other programs and of podcastfs, read by the confined process as it ships.
@Suite struct BackupTests {
  private let files: TemporaryDirectory
  private let world: CatalogWorld
  private var feed: String { "\(world.web.address)/feed" }

  init() throws {
    files = try TemporaryDirectory()
    world = try CatalogWorld()
    var feed = TestFeed(items: TestFeed.items(1..<6))
    for place in feed.items.indices { feed.items[place].extra = "<itunes:duration>3600</itunes:duration>" }
    world.web.set("/feed", feed.page)
    // The feed is on this machine: that has to be said by a person.
    _ = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed")
  }

  /// A database's bytes, as the program's file has them.
  private func database(_ statements: [String]) throws -> [UInt8] {
    let path = files.path("database")
    do {
      let database = try Database(path: path)
      for statement in statements { try database.run(statement) }
      try database.checkpoint()
    }
    return try Directories.read(path)
  }

  private func refresh() throws {
    for listed in try world.catalog.subscriptions() where listed.podcast.feedURL.forRequest == feed {
      try world.refresh(listed.podcast.id)
    }
  }

  private func episode(_ number: Int) throws -> Episode {
    let listed = try #require(try world.catalog.subscription(feedURL: feed))
    return try #require(
      try world.catalog.episodes(ofPodcast: listed.podcast.id).first { $0.guid == "g\(number)" })
  }

  /// The tables that are read, as versions of AntennaPod have made them.
  private static let antennaPod = [
    """
    CREATE TABLE Feeds (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, custom_title TEXT, file_url TEXT,
      download_url TEXT, downloaded INTEGER, link TEXT, description TEXT, payment_link TEXT, last_update TEXT,
      language TEXT, author TEXT, image_url TEXT, type TEXT, feed_identifier TEXT, auto_download INTEGER DEFAULT 1,
      username TEXT, password TEXT, include_filter TEXT DEFAULT '', exclude_filter TEXT DEFAULT '',
      minimal_duration_filter INTEGER DEFAULT -1, keep_updated INTEGER DEFAULT 1, is_paged INTEGER DEFAULT 0,
      next_page_link TEXT, hide TEXT, sort_order TEXT, last_update_failed INTEGER DEFAULT 0,
      auto_delete_action INTEGER DEFAULT 0, feed_playback_speed REAL DEFAULT -1, feed_volume_adaption INTEGER DEFAULT 0,
      tags TEXT, feed_skip_intro INTEGER DEFAULT 0, feed_skip_ending INTEGER DEFAULT 0,
      episode_notification INTEGER DEFAULT 0, state INTEGER DEFAULT 0)
    """,
    """
    CREATE TABLE FeedItems (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, pubDate INTEGER, read INTEGER, link TEXT,
      description TEXT, payment_link TEXT, media INTEGER, feed INTEGER, has_simple_chapters INTEGER,
      item_identifier TEXT, image_url TEXT, auto_download INTEGER, podcastindex_chapter_url TEXT)
    """,
    """
    CREATE TABLE FeedMedia (id INTEGER PRIMARY KEY AUTOINCREMENT, duration INTEGER, file_url TEXT, download_url TEXT,
      downloaded INTEGER, position INTEGER, filesize INTEGER, mime_type TEXT, playback_completion_date INTEGER,
      feeditem INTEGER, played_duration INTEGER, has_embedded_picture INTEGER, last_played_time INTEGER)
    """,
    "CREATE TABLE Queue(id INTEGER PRIMARY KEY, feeditem INTEGER, feed INTEGER)",
    "CREATE TABLE Favorites(id INTEGER PRIMARY KEY, feeditem INTEGER, feed INTEGER)",
    "CREATE INDEX FeedItems_feed ON FeedItems (feed)",
  ]

  private func antennaPodBackup() throws -> [UInt8] {
    try database(
      Self.antennaPod + [
        """
        INSERT INTO Feeds (id, title, custom_title, download_url, username, password, include_filter, exclude_filter,
          minimal_duration_filter, state) VALUES
          (1, 'Harbour Lights', NULL, '\(feed)', NULL, NULL, 'Part "the end"', 'trailer', 600, 0),
          (2, 'Private', 'Mine', 'https://b.example/feed', 'ann', 'p:w@ü', '', '', -1, 0),
          (3, 'Looked at', NULL, 'https://c.example/feed', NULL, NULL, '', '', -1, 1),
          (4, 'A folder', NULL, 'antennapod_local:content://x', NULL, NULL, '', '', -1, 0)
        """,
        """
        INSERT INTO FeedItems (id, feed, read, item_identifier) VALUES
          (11, 1, 1, 'g1'), (12, 1, 0, 'g2'), (13, 1, -1, 'g3'), (14, 1, 0, 'other'), (15, 3, 1, 'x')
        """,
        """
        INSERT INTO FeedMedia (feeditem, download_url, duration, position, playback_completion_date, last_played_time)
          VALUES (11, 'http://m.example/g100.mp3', 3600000, 0, 1700000000000, 1690000000000),
            (12, 'http://m.example/g200.mp3', 3600000, 751200, 0, 1700000100000),
            (13, 'http://m.example/g300.mp3', 3600000, 0, 0, 0),
            (14, 'https://track.example/r/m.example/g400.mp3?token=1', 3600000, 5000, 0, 1700000200000),
            (15, 'http://c.example/1.mp3', 1, 1, 1, 1)
        """,
        "INSERT INTO Favorites (id, feeditem, feed) VALUES (1, 13, 1)",
        "INSERT INTO Queue (id, feeditem, feed) VALUES (2, 12, 1), (1, 14, 1)",
      ])
  }

  @Test func anAntennaPodComesWithAllThatHasAPlaceHere() throws {
    let backup = try antennaPodBackup()
    let outcome = try world.catalog.importOPML(backup)
    #expect(outcome.added == 1 && outcome.known == 1 && outcome.refused == 1)
    #expect(outcome.problems == ["“A folder” has no web address"])
    #expect(outcome.rules == 3 && outcome.episodes == 0 && outcome.awaited == 4)
    let listed = try world.catalog.subscriptions()
    #expect(listed.map(\.name).contains("Mine"))
    #expect(listed.contains { $0.podcast.feedURL == "https://ann:p%3Aw%40%C3%BC@b.example/feed" })
    let rules = try world.catalog.rules(ofPodcast: try #require(try world.catalog.podcast(feedURL: feed)).id)
    #expect(rules.include == ["Part", "the end"] && rules.exclude == ["trailer"] && rules.minDuration == 600)
    // The states come with the episodes.
    try refresh()
    #expect(try episode(1).played && episode(1).listening.lastPlayed == 1_700_000_000)
    #expect(try episode(2).listening.position == 751_200 && !episode(2).played)
    #expect(try episode(4).listening.position == 5000)
    #expect(try episode(5).listening.changed == nil)
    #expect(try world.catalog.keepOrders().map(\.episode.guid) == ["g3"])
    #expect(try world.catalog.queueEntries().map(\.episode) == [episode(4).id, episode(2).id])
    let again = try world.catalog.importOPML(backup)
    #expect(again.added == 0 && again.rules == 0 && again.awaited == 0)
    try world.catalog.removeKeepOrder(episode(3).mediaKey)
    #expect(try world.catalog.keepOrders().isEmpty)
  }

  @Test func whatIsNewerHereStaysAndWhatIsKnownIsTakenAtOnce() throws {
    try refresh()
    try world.catalog.setPosition(60_000, episode: episode(2).id, margin: 30)
    let outcome = try world.catalog.importOPML(antennaPodBackup())
    #expect(outcome.episodes == 4 && outcome.awaited == 0)
    #expect(try episode(2).listening.position == 60_000 && episode(1).played)
  }

  @Test func aDryRunTellsTheSameAndChangesNothing() throws {
    let backup = try antennaPodBackup()
    let dry = try world.catalog.importOPML(backup, isDry: true)
    #expect(try world.catalog.subscriptions().count == 1)
    try refresh()
    #expect(try !episode(1).played)
    #expect(dry.added == 1 && dry.awaited == 4 && dry.rules == 3)
  }

  private static let gPodder = [
    """
    CREATE TABLE podcast (id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', url TEXT NOT NULL DEFAULT '',
      link TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '', cover_url TEXT NULL DEFAULT NULL,
      auth_username TEXT NULL DEFAULT NULL, auth_password TEXT NULL DEFAULT NULL,
      http_last_modified TEXT NULL DEFAULT NULL, http_etag TEXT NULL DEFAULT NULL,
      auto_archive_episodes INTEGER NOT NULL DEFAULT 0, download_folder TEXT NOT NULL DEFAULT '',
      pause_subscription INTEGER NOT NULL DEFAULT 0, section TEXT NOT NULL DEFAULT '',
      payment_url TEXT NULL DEFAULT NULL, download_strategy INTEGER NOT NULL DEFAULT 0,
      sync_to_mp3_player INTEGER NOT NULL DEFAULT 1, cover_thumb BLOB NULL DEFAULT NULL)
    """,
    "CREATE UNIQUE INDEX idx_podcast_url ON podcast (url)",
    """
    CREATE TABLE episode (id INTEGER PRIMARY KEY NOT NULL, podcast_id INTEGER NOT NULL, title TEXT NOT NULL DEFAULT '',
      description TEXT NOT NULL DEFAULT '', url TEXT NOT NULL, published INTEGER NOT NULL DEFAULT 0, guid TEXT NOT NULL,
      link TEXT NOT NULL DEFAULT '', file_size INTEGER NOT NULL DEFAULT 0,
      mime_type TEXT NOT NULL DEFAULT 'application/octet-stream', state INTEGER NOT NULL DEFAULT 0,
      is_new INTEGER NOT NULL DEFAULT 0, archive INTEGER NOT NULL DEFAULT 0,
      download_filename TEXT NULL DEFAULT NULL, total_time INTEGER NOT NULL DEFAULT 0,
      current_position INTEGER NOT NULL DEFAULT 0, current_position_updated INTEGER NOT NULL DEFAULT 0,
      last_playback INTEGER NOT NULL DEFAULT 0, payment_url TEXT NULL DEFAULT NULL,
      description_html TEXT NOT NULL DEFAULT '', episode_art_url TEXT NULL DEFAULT NULL,
      chapters TEXT NULL DEFAULT NULL)
    """,
    "CREATE TABLE version (version integer)", "INSERT INTO version (version) VALUES (8)",
  ]

  @Test func aGPodderComesWithPlayedStartedAndArchivedEpisodes() throws {
    let backup = try database(
      Self.gPodder + [
        """
        INSERT INTO podcast (id, title, url, auth_username, auth_password, section) VALUES
          (1, 'Harbour Lights', '\(feed)', NULL, NULL, 'Talk'), (2, 'P', 'http://b.example/feed', 'bob', 'x', ''),
          (3, 'Sound', 'soundcloud:x', NULL, NULL, ''), (4, 'Nowhere', '', NULL, NULL, '')
        """,
        """
        INSERT INTO episode (podcast_id, url, guid, is_new, archive, total_time, current_position,
          current_position_updated, last_playback, state) VALUES
          (1, 'http://m.example/g100.mp3', 'g1', 0, 0, 3600, 0, 0, 1700000000, 2),
          (1, 'http://m.example/g200.mp3', 'g2', 0, 0, 3600, 1200, 1700000100, 1700000050, 1),
          (1, 'http://m.example/g300.mp3', 'g3', 1, 1, 3600, 0, 0, 0, 0),
          (1, 'http://m.example/g400.mp3', 'g4', 0, 0, 3600, 3590, 1700000100, 0, 1),
          (1, 'http://m.example/g500.mp3', 'g5', 1, 0, 3600, 0, 0, 0, 0)
        """,
      ])
    let outcome = try world.catalog.importOPML(backup)
    #expect(outcome.added == 1 && outcome.known == 1 && outcome.awaited == 4, "\(outcome)")
    #expect(outcome.refused == 2)
    #expect(
      outcome.problems == [
        "“Sound” has no web address", "“Nowhere” has no web address",
      ])
    try refresh()
    #expect(try episode(1).played && episode(4).played && !episode(5).played)
    #expect(try episode(2).listening.position == 1_200_000 && episode(2).listening.changed == 1_700_000_100)
    #expect(try world.catalog.keepOrders().map(\.episode.guid) == ["g3"])
  }

  @Test func anOvercastComesWithPlayedAndStartedEpisodes() throws {
    let list = """
      <?xml version="1.0" encoding="utf-8"?><opml version="1.0"><head><title>Overcast</title></head><body>
      <outline text="playlists"><outline type="podcast-playlist" title="All" smart="1"/></outline>
      <outline text="feeds">
      <outline type="rss" overcastId="1" text="Harbour Lights" title="Harbour Lights" xmlUrl="\(feed)" subscribed="1">
      <outline type="podcast-episode" overcastId="2" pubDate="2020-01-02T10:00:00+00:00" title="Episode 1"
        url="http://m.example/page" overcastUrl="https://overcast.fm/+x" enclosureUrl="http://m.example/g100.mp3"
        userUpdatedDate="2023-11-14T17:13:20-05:00" played="1"/>
      <outline type="podcast-episode" overcastId="3" title="Episode 2" enclosureUrl="http://m.example/g200.mp3"
        userUpdatedDate="2023-11-14T22:13:20+00:00" progress="61"/>
      <outline type="podcast-episode" overcastId="4" title="Episode 3" enclosureUrl="http://m.example/g300.mp3"/>
      </outline>
      <outline type="rss" text="Gone" title="Gone" xmlUrl="http://c.example/feed" subscribed="0">
      <outline type="podcast-episode" title="X" enclosureUrl="http://c.example/x.mp3" played="1"/></outline>
      </outline></body></opml>
      """
    let outcome = try world.catalog.importOPML(Array(list.utf8))
    #expect(outcome.added == 0 && outcome.known == 1 && outcome.awaited == 2, "\(outcome)")
    try refresh()
    #expect(try episode(1).played && episode(1).listening.changed == 1_700_000_000)
    #expect(try episode(2).listening.position == 61_000)
  }

  /// What the feed shows then has another guid, or two of them.
  @Test(arguments: [true, false]) func `A mark of a guid waits for the episode of that guid`(isKnown: Bool)
    throws
  {
    if isKnown { try refresh() }
    let marks = ["ga", "gb"].map {
      #"{"feed_url": "\#(feed)", "url": "http://m.example/g100.mp3", "guid": "\#($0)", "played": true}"#
    }
    let state = #"{"podcastfs_state": 1, "episodes": [\#(marks.joined(separator: ","))]}"#
    #expect(try world.catalog.importOPML(Array(state.utf8)).awaited == 2)
    var items = TestFeed.items(1..<3)
    for (name, number) in [("a", 3), ("b", 4)] {
      var item = TestFeed.items(number..<(number + 1))[0]
      (item.guid, item.url) = ("g" + name, "http://m.example/g100.mp3")
      items.append(item)
    }
    world.web.set("/feed", TestFeed(items: items).page)
    try refresh()
    let podcast = try #require(try world.catalog.subscription(feedURL: feed)).podcast.id
    let played = try world.catalog.episodes(ofPodcast: podcast).filter(\.played)
    #expect(played.map(\.guid) == ["ga", "gb"])
  }

  @Test func `A query fails where the index of transcripts cannot be read`() throws {
    try Directories.create("\(world.home.places.data)/transcripts.sqlite")
    let query = try #require(try EpisodeQuery(parsing: "transcript:fog"))
    #expect(throws: CatalogError.self) { try world.catalog.episodes(selectedBy: query, limit: 9) }
  }

  @Test func `A search that no folder can be named after is left out`() throws {
    let state = #"{"podcastfs_state": 1, "searches": ["..", "a/b", "\u0001Arts", "words"]}"#
    #expect(try world.catalog.importOPML(Array(state.utf8)).searches == ["words"])
  }

  /// On a new machine, before and after its feeds have come.
  @Test func exportAndImportGiveTheSameOnAnotherMachine() throws {
    _ = try world.catalog.importOPML(antennaPodBackup())
    try refresh()
    try world.catalog.setPlayed(true, episode: episode(5).id)
    try world.catalog.setPlayed(false, episode: episode(5).id)
    try world.catalog.setHidden(true, episode: episode(4).id)
    let listed = try #require(try world.catalog.subscription(feedURL: feed))
    try world.catalog.rename(subscription: listed.id, to: "My lights")
    try world.catalog.setRules([(.autoDownload, "14d"), (.notify, "1")], ofPodcast: listed.podcast.id)
    let kept = Set([try episode(2).mediaKey])
    let state = try world.catalog.exportState(kept: kept)
    let text = String(decoding: state, as: UTF8.self)
    #expect(text.contains(#""podcastfs_state": 1"#) && text.contains("My lights") && text.contains("14d"))

    let other = try CatalogWorld()
    let outcome = try other.catalog.importOPML(state)
    #expect(outcome.added == 2 && outcome.refused == 0 && outcome.problems.isEmpty, "\(outcome)")
    #expect(try other.catalog.exportState(kept: []) == state)
    // The feed of the first machine, which a person names.
    _ = Waiting.result(within: patience) { other.catalog.subscribe(address: feed, completion: $0) }
    let copy = try #require(try other.catalog.subscription(feedURL: feed))
    try other.refresh(copy.podcast.id)
    let episodes = try other.catalog.episodes(ofPodcast: copy.podcast.id)
    #expect(episodes.filter(\.hidden).map(\.guid) == ["g4"])
    #expect(episodes.first { $0.guid == "g5" }?.listening == (try episode(5).listening))
    let queue = try other.catalog.queueEntries().map { entry in
      episodes.first { $0.id == entry.episode }?.guid
    }
    #expect(queue == ["g4", "g2"])
    #expect(Set(try other.catalog.keepOrders().map(\.episode.guid)) == ["g2", "g3"])
    let again = try other.catalog.exportState(kept: [])
    #expect(again == state, "\(String(decoding: again, as: UTF8.self))\n\(text)")
    _ = try world.catalog.importOPML(again)
    #expect(try world.catalog.exportState(kept: kept) == state)
  }

  @Test func databasesOfStrangersAreOnlyRead() throws {
    let sound = try antennaPodBackup()
    var damaged = sound
    for place in 4096..<8192 where place < damaged.count { damaged[place] = 0xAA }
    let hostile = try database([
      "DROP TABLE Queue", "CREATE VIEW Queue AS SELECT id, id AS feeditem FROM sqlite_master",
    ])
    let unknown = Array(sound.prefix(16)) + [UInt8](repeating: 0, count: 5000)
    for bytes in [damaged, unknown, Array(sound.prefix(600))] {
      let error = #expect(throws: CatalogError.self) { try world.catalog.importOPML(bytes) }
      #expect(error?.errno == .EINVAL && error?.message.contains("cannot be used") == true, "\(error as Any)")
    }
    // What a view would give is not read.
    let error = #expect(throws: CatalogError.self) { try world.catalog.importOPML(hostile) }
    #expect(error?.errno == .EINVAL, "\(error as Any)")
    #expect(try world.catalog.subscriptions().count == 1)
  }

  @Test func aStateOfALaterVersionIsRefused() throws {
    let error = #expect(throws: CatalogError.self) {
      try world.catalog.importOPML(Array(#"{"podcastfs_state": 2, "subscriptions": []}"#.utf8))
    }
    #expect(error?.message.contains("version 2") == true, "\(error as Any)")
  }
}
