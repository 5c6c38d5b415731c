internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// The tables of `catalog.sqlite`.
///
/// Times are seconds since 1970. A column `…_key` holds what makes two names or addresses equal
/// (`UniqueNames.key`, `FeedKey`). Row numbers are never given twice: AUTOINCREMENT, and for episodes
/// `podcast.next_episode` (see `EpisodeID`).
///
/// There are no migrations: a file of another version is set aside, and a new one begins.
enum Schema {
  /// To be raised with every change of `tables`, and of the rules by which texts are indexed (`SearchText`).
  static let version = 151

  /// - Throws: also where the file is of another version, or damaged where every command reads.
  static func open(_ path: String, _ options: Database.Options) throws -> Database {
    let database = try Database(path: path, options: options)
    try database.makeTables(version: version, tables)
    let followed =
      "SELECT p.title, f.memory FROM subscription s JOIN \(Podcast.source) AND p.id = s.podcast_id"
    _ = try database.number("SELECT count(title), count(memory) FROM (\(followed) LIMIT 1000)")
    _ = try database.number("SELECT list_read FROM counter")
    return database
  }

  /// Renames a file that cannot be used, and those that SQLite keeps beside it. Of several processes one does so.
  /// - Parameter isUsable: looks once more.
  /// - Returns: what a person should know; nil where another process was faster.
  static func setAside(_ path: String, _ error: DatabaseError, unless isUsable: () -> Bool) throws -> String?
  {
    let gate = try gate(path)
    defer { gate.unlock() }
    if access(path, F_OK) != 0 || isUsable() { return nil }
    let version = error.isDamaged ? nil : try Database(path: path).version()
    let free = unused("\(path).\(version.map { "version-\($0)" } ?? "damaged")")
    guard rename(path, free) == 0 else { throw PosixError.last("rename \(path)") }
    for ending in ["-wal", "-shm"] { rename(path + ending, free + ending) }
    let why = error.isDamaged ? "damaged (\(error.message))" : "of another version of podcastfs"
    let cure = "\"podcastfs import\" brings marks back from a backup"
    return "the catalogue was \(why): it was set aside as \(free), and a new one begins: \(cure)"
  }

  /// Makes an empty catalogue file where there is none. Where an earlier catalogue was only moved in part, its `-wal` and `-shm`
  /// files are still there. They get another name first, or SQLite would read them as the new file's.
  static func create(_ path: String) throws {
    if access(path, F_OK) == 0 { return }
    let gate = try gate(path)
    defer { gate.unlock() }
    if access(path, F_OK) == 0 { return }
    for ending in ["-wal", "-shm"] { rename(path + ending, unused(path + ".damaged" + ending)) }
    // Addresses of private feeds are in it: SQLite makes its other files as this one is.
    _ = try FileDescriptor(opening: path, O_RDWR | O_CREAT, mode: 0o600)
  }

  /// Waits for the lock under which processes set catalogues aside and begin new ones. The holder renames three files, so
  /// the wait is short.
  private static func gate(_ path: String) throws -> FileDescriptor {
    let gate = try FileDescriptor(opening: path + "-version", O_RDWR | O_CREAT, mode: 0o600)
    while !gate.tryLock(.exclusive) { usleep(1000) }
    return gate
  }

  /// A name that no file has: this one, or with a number.
  static func unused(_ name: String) -> String {
    var free = name
    var number = 2
    while access(free, F_OK) == 0 {
      free = "\(name)-\(number)"
      number += 1
    }
    return free
  }

  static let tokenizer = "tokenize = 'unicode61 remove_diacritics 2'"
  static let indexes = """
    CREATE VIRTUAL TABLE podcast_text USING fts5 (
      title, author, rest, prefix = '1 2 3', content = '', \(tokenizer));
    CREATE VIRTUAL TABLE episode_text USING fts5 (
      title, notes, content = '', detail = none, columnsize = 0, prefix = '1 2 3 4', \(tokenizer));
    -- Its words.
    CREATE VIRTUAL TABLE episode_word USING fts5vocab (episode_text, row);
    """
  static let tables = """
    CREATE TABLE podcast (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,                        -- in `Downloaded/`
      name_key TEXT NOT NULL UNIQUE,
      title TEXT NOT NULL,
      has_title INTEGER NOT NULL DEFAULT 1,      -- 0: title and names are a host's until the feed says its title
      author TEXT, people TEXT, link TEXT, language TEXT, categories TEXT, description TEXT, image_url TEXT,
      explicit INTEGER,
      guid TEXT,                                 -- podcast:guid
      created INTEGER NOT NULL DEFAULT (unixepoch()),
      changed INTEGER NOT NULL DEFAULT 0,        -- when its directories last listed other things, in nanoseconds
      is_listed INTEGER NOT NULL DEFAULT 0,      -- a public directory names the feed: its address holds no secret
      is_forgotten INTEGER NOT NULL DEFAULT 0,   -- hidden from everybody; its rows are being deleted (`Forgetting`)
      episode_count INTEGER NOT NULL DEFAULT 0,
      hidden_count INTEGER NOT NULL DEFAULT 0,   -- kept by a trigger
      next_episode INTEGER NOT NULL DEFAULT 1,
      newest INTEGER,                            -- publication of the newest one that is not hidden
      revision INTEGER NOT NULL DEFAULT 0,       -- counts the changes of its episodes
      indexed_upto INTEGER NOT NULL DEFAULT 0,   -- the full-text index has its episodes up to this number
      is_followed INTEGER NOT NULL DEFAULT 0     -- kept by triggers; so is that of its feed, for an index
    );
    CREATE INDEX podcast_unindexed ON podcast (id) WHERE indexed_upto < next_episode - 1;
    CREATE INDEX podcast_forgotten ON podcast (id) WHERE is_forgotten = 1;

    -- A podcast that is forgotten has no row here.
    CREATE TABLE feed (
      podcast_id INTEGER PRIMARY KEY REFERENCES podcast (id) ON DELETE CASCADE,
      feed_url TEXT NOT NULL,
      feed_key TEXT NOT NULL UNIQUE,
      may_be_private INTEGER NOT NULL,
      is_private INTEGER NOT NULL,
      is_followed INTEGER NOT NULL,
      last_refresh INTEGER, next_refresh INTEGER, claimed_until INTEGER,
      failures INTEGER NOT NULL, error TEXT,
      is_away INTEGER NOT NULL,
      memory BLOB NOT NULL
    );
    CREATE INDEX feed_due ON feed (max(coalesce(next_refresh, 0), coalesce(claimed_until, 0))) WHERE is_followed = 1;
    CREATE INDEX feed_refreshed ON feed (last_refresh);
    CREATE INDEX feed_away ON feed (podcast_id) WHERE is_away = 1;

    -- Addresses that feeds have moved away from: what the configuration says of them goes on to apply.
    CREATE TABLE former_address (
      feed_key TEXT PRIMARY KEY,
      podcast_id INTEGER NOT NULL REFERENCES podcast (id) ON DELETE CASCADE
    ) WITHOUT ROWID;
    CREATE INDEX former_address_podcast ON former_address (podcast_id);

    -- A podcast's episodes lie side by side: their numbers begin with the podcast's.
    CREATE TABLE episode (
      id INTEGER PRIMARY KEY,
      podcast_id INTEGER NOT NULL REFERENCES podcast (id) ON DELETE CASCADE,
      guid TEXT,
      media_key BLOB NOT NULL,
      stem TEXT NOT NULL,
      extension TEXT NOT NULL,
      title TEXT NOT NULL,
      published INTEGER NOT NULL,
      is_dated INTEGER NOT NULL,
      modified INTEGER NOT NULL,                 -- `published`, or the next second that no other episode has
      hidden INTEGER NOT NULL DEFAULT 0,
      played INTEGER NOT NULL DEFAULT 0,
      position INTEGER NOT NULL DEFAULT 0,       -- of the listener, in milliseconds
      last_played INTEGER, listening_changed INTEGER,
      is_replaced INTEGER NOT NULL DEFAULT 0,    -- its address is another episode's by now
      fingerprint INTEGER NOT NULL,              -- of what the feed said
      enclosure_url TEXT NOT NULL,
      media_type TEXT, feed_length INTEGER, duration INTEGER, season INTEGER, number INTEGER,
      type TEXT,                                 -- `itunes:episodeType`
      explicit INTEGER, link TEXT, image_url TEXT, transcripts BLOB, chapters_url TEXT,
      notes_length INTEGER NOT NULL DEFAULT 0,
      people TEXT,                               -- `podcast:person`, a name a line
      ruled INTEGER NOT NULL DEFAULT 0           -- RuleMark
    );
    CREATE INDEX episode_media_key ON episode (media_key);
    -- For listings by date, for the foreign key, and for queries of some podcasts: it has all that they look at.
    CREATE INDEX episode_by_date
      ON episode (podcast_id, hidden, published DESC, played, position, duration, season);
    -- For queries of all episodes.
    CREATE INDEX episode_facts
      ON episode (published DESC, hidden, played, position, duration, season, podcast_id);
    CREATE INDEX episode_heard
      ON episode (published DESC, hidden, played, position, duration, season, podcast_id)
      WHERE played = 1 OR position > 0;
    CREATE INDEX episode_listened ON episode (listening_changed) WHERE listening_changed IS NOT NULL;
    -- To count what is unplayed.
    CREATE INDEX episode_played ON episode (podcast_id, hidden) WHERE played = 1;
    CREATE TRIGGER episode_is_hidden AFTER UPDATE OF hidden ON episode WHEN old.hidden <> new.hidden BEGIN
      UPDATE podcast SET hidden_count = hidden_count + new.hidden - old.hidden WHERE id = new.podcast_id;
    END;

    -- Apart, so that a listing reads past no long texts.
    CREATE TABLE notes (
      episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
      text TEXT,
      chapters TEXT                              -- those that stand in the feed: ChapterList.text
    );

    -- Words of `people` of episodes: see `PersonRows`.
    CREATE TABLE person (
      word TEXT NOT NULL, episode_id INTEGER NOT NULL, PRIMARY KEY (word, episode_id)
    ) WITHOUT ROWID;

    -- What is played next: see `PlayQueue`.
    CREATE TABLE queue (
      episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
      place INTEGER NOT NULL UNIQUE,
      is_ordered INTEGER NOT NULL DEFAULT 0      -- its download was ordered ahead, once
    );

    CREATE TRIGGER episode_is_played AFTER UPDATE OF played ON episode WHEN new.played = 1 BEGIN
      DELETE FROM queue WHERE episode_id = new.id;
    END;

    CREATE TABLE search (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE,
      source TEXT NOT NULL,
      searched INTEGER NOT NULL,
      changed INTEGER NOT NULL DEFAULT 0         -- in nanoseconds
    );
    CREATE TABLE result (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
      podcast_id INTEGER NOT NULL REFERENCES podcast (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      name TEXT NOT NULL,
      name_key TEXT NOT NULL,
      state INTEGER NOT NULL DEFAULT 0,          -- ResultState
      changed INTEGER NOT NULL DEFAULT 0,        -- in nanoseconds
      UNIQUE (search_id, podcast_id),
      UNIQUE (search_id, name_key)
    );
    CREATE INDEX result_podcast ON result (podcast_id);
    CREATE TABLE hidden_in_search (
      result_id INTEGER NOT NULL REFERENCES result (id) ON DELETE CASCADE,
      episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
      PRIMARY KEY (result_id, episode_id)
    ) WITHOUT ROWID;
    CREATE INDEX hidden_in_search_episode ON hidden_in_search (episode_id);

    CREATE TABLE subscription (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      podcast_id INTEGER NOT NULL UNIQUE REFERENCES podcast (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      name_key TEXT NOT NULL UNIQUE,
      is_own_name INTEGER NOT NULL DEFAULT 0,    -- the user's own word, not made from the title
      subscribed INTEGER NOT NULL,
      changed INTEGER NOT NULL DEFAULT 0,        -- in nanoseconds
      rules BLOB                                 -- SubscriptionRules
    );
    CREATE TRIGGER subscription_begins AFTER INSERT ON subscription BEGIN
      UPDATE podcast SET is_followed = 1 WHERE id = new.podcast_id;
      UPDATE feed SET is_followed = 1 WHERE podcast_id = new.podcast_id;
    END;
    CREATE TRIGGER subscription_ends AFTER DELETE ON subscription BEGIN
      UPDATE podcast SET is_followed = 0 WHERE id = old.podcast_id;
      UPDATE feed SET is_followed = 0 WHERE podcast_id = old.podcast_id;
    END;

    -- What the synchronization's server and this device last agreed on (`SyncRows`).
    CREATE TABLE sync_feed (url TEXT PRIMARY KEY, key TEXT NOT NULL, state INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE sync_episode (
      episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
      position INTEGER NOT NULL, played INTEGER NOT NULL, time INTEGER NOT NULL
    );

    -- What other devices and programs say of episodes that are not known yet: `AwaitedReport`.
    CREATE TABLE awaited_report (
      feed_key TEXT NOT NULL, address TEXT NOT NULL, guid TEXT NOT NULL,
      time INTEGER NOT NULL, queue_place INTEGER NOT NULL, is_exchanged INTEGER NOT NULL,
      report BLOB NOT NULL,
      kept INTEGER NOT NULL,                     -- since when
      PRIMARY KEY (feed_key, address, guid)
    ) WITHOUT ROWID;

    -- Episodes that a backup keeps: a mount orders it (`RuleKeeper`).
    CREATE TABLE keep_order (episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE);

    -- The full-text index (`SearchText`). Of episodes it keeps in which ones a word is, not where.
    \(indexes)

    -- When Apple's search service was asked.
    CREATE TABLE search_call (at INTEGER NOT NULL);

    -- What each commit has changed, for the processes that show it: see `ChangeLog`.
    CREATE TABLE change_log (number INTEGER PRIMARY KEY, changes TEXT NOT NULL);

    CREATE TABLE counter (
      upkeep INTEGER NOT NULL DEFAULT 0,         -- when the catalogue was last looked after
      -- When what a directory lists last changed, in nanoseconds since 1970.
      searches_changed INTEGER NOT NULL, subscriptions_changed INTEGER NOT NULL, list_changed INTEGER NOT NULL,
      uploads_changed INTEGER NOT NULL DEFAULT 0,
      -- 1: the list beside the file was read, and may be replaced; -N: so often the parser failed at it.
      list_read INTEGER NOT NULL DEFAULT 0,
      sync_account BLOB
    );
    INSERT INTO counter (searches_changed, subscriptions_changed, list_changed)
      SELECT now, now, now FROM (SELECT unixepoch() * 1000000000 AS now);

    """
}
