internal import SQLiteKit

/// The tables of `catalog.sqlite`, version by version.
///
/// Times are seconds since 1970. A column `…_key` holds what makes two names or addresses equal
/// (`UniqueNames.key`, `FeedKey`). Row numbers are never given twice: AUTOINCREMENT, and for episodes
/// `podcast.next_episode` (see `EpisodeID`).
enum Schema {
  static var steps: [(Database) throws -> Void] {
    [
      { try $0.script(first) }, { try $0.script(second) },
      { database in
        try database.script(third)
        try SubscriptionList.measureAll(in: database)
      },
      { database in
        try database.script(fourth)
        try ProvisionalNames.markAll(in: database)
      },
      { try $0.script(fifth) },
      { try $0.script(sixth) },
      { try $0.script(seventh) },
      { try $0.script(eighth) },
      { try $0.script(ninth) },
      { try $0.script(tenth) },
      { try $0.script(eleventh) },
      { try $0.script(twelfth) },
      { try $0.script(thirteenth) },
      { try $0.script(fourteenth) },
      { try $0.script(fifteenth) },
    ]
  }

  /// Steps of the programs that wrote the number of the version once only.
  static let unmarked = 15

  private static let fourteenth = """
    -- Where redirects ended that led to the last feed (`RedirectedFeed`); NULL where none did.
    ALTER TABLE podcast ADD COLUMN came_from TEXT;
    """

  private static let fifteenth = """
    -- The last answer broke off: some of the feed is missing.
    ALTER TABLE podcast ADD COLUMN is_cut INTEGER NOT NULL DEFAULT 0;
    """ + anew

  /// The full-text index anew, by other rules (`SearchText`, `TitleText`). It is filled behind (`TextIndexer`).
  private static let anew = """

    INSERT INTO podcast_text (podcast_text) VALUES ('delete-all');
    INSERT INTO episode_text (episode_text) VALUES ('delete-all');
    UPDATE counter SET pages_to_merge = 0, podcasts_unindexed = coalesce((SELECT max(id) FROM podcast), 0);
    UPDATE podcast SET indexed_upto = 0, revision = revision + 1;
    """

  private static let thirteenth = """
    -- Marks of Greek, Cyrillic, Hebrew and Arabic letters do not count either, and titles are those that were meant.
    """ + anew

  private static let twelfth = """
    -- With its beginnings of words, as the index of episodes has them; filled anew behind.
    DROP TABLE podcast_text;
    CREATE VIRTUAL TABLE podcast_text USING fts5 (
      title, author, rest, prefix = '1 2 3', content = '', tokenize = 'unicode61 remove_diacritics 2');
    UPDATE counter SET podcasts_unindexed = coalesce((SELECT max(id) FROM podcast), 0);
    """

  private static let eleventh = """
    -- Pages of the full-text index that are still to be put together with others, so that words that are in no text any
    -- more leave it (`TextIndexer`).
    ALTER TABLE counter ADD COLUMN pages_to_merge INTEGER NOT NULL DEFAULT 0;
    """

  private static let tenth = """
    -- Media keys of episodes that have become one with others (`FormerKeys`): what came under them may be here.
    CREATE TABLE former_key (
      media_key BLOB PRIMARY KEY,
      episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE
    ) WITHOUT ROWID;
    CREATE INDEX former_key_episode ON former_key (episode_id);
    """

  private static let ninth = """
    -- Why `next_page` could not be had; until when its server wishes not to be asked for it; how often in a row, on
    -- different days, it was not there.
    ALTER TABLE podcast ADD COLUMN page_error TEXT;
    ALTER TABLE podcast ADD COLUMN page_retry_after INTEGER;
    ALTER TABLE podcast ADD COLUMN page_gone INTEGER NOT NULL DEFAULT 0;
    -- When its pages were last read again because its episodes have other addresses.
    ALTER TABLE podcast ADD COLUMN readdressed INTEGER;
    CREATE INDEX podcast_paging ON podcast (id) WHERE next_page IS NOT NULL;
    """

  private static let eighth = """
    -- Podcasts up to this number may be missing in the full-text index, which is filled behind (`TextIndexer`).
    ALTER TABLE counter ADD COLUMN podcasts_unindexed INTEGER NOT NULL DEFAULT 0;
    UPDATE counter SET podcasts_unindexed = coalesce((SELECT max(id) FROM podcast), 0)
      WHERE NOT EXISTS (SELECT 1 FROM podcast_text_docsize);
    """

  private static let seventh = """
    -- It has turned out to be that podcast, and its episodes go over to it: see `PodcastMerge`.
    ALTER TABLE podcast ADD COLUMN merges_into INTEGER;
    CREATE INDEX podcast_merging ON podcast (id) WHERE merges_into IS NOT NULL;
    """

  private static let sixth = """
    -- Hidden from everybody; its rows are being deleted: see `Forgetting`.
    ALTER TABLE podcast ADD COLUMN is_forgotten INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX podcast_forgotten ON podcast (id) WHERE is_forgotten = 1;
    ALTER TABLE podcast ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
    UPDATE podcast SET created = unixepoch();
    CREATE TRIGGER podcast_begins AFTER INSERT ON podcast BEGIN
      UPDATE podcast SET created = unixepoch() WHERE id = new.id;
    END;
    ALTER TABLE counter ADD COLUMN upkeep INTEGER NOT NULL DEFAULT 0; -- when it was last looked after
    """

  private static let fifth = """
    -- The full-text index anew, by other rules (`SearchText`); it is filled behind (`TextIndexer`).
    -- Of episodes it keeps in which ones a word is, not where: a fifth of the size.
    DROP TABLE podcast_text;
    DROP TABLE episode_text;
    CREATE VIRTUAL TABLE podcast_text USING fts5 (
      title, author, rest, content = '', prefix = '1 2 3', tokenize = 'unicode61 remove_diacritics 2');
    CREATE VIRTUAL TABLE episode_text USING fts5 (
      title, notes, content = '', detail = none, columnsize = 0, prefix = '1 2 3',
      tokenize = 'unicode61 remove_diacritics 2');
    -- The index has its episodes up to this number.
    ALTER TABLE podcast ADD COLUMN indexed_upto INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX podcast_unindexed ON podcast (id) WHERE indexed_upto < next_episode - 1;

    ALTER TABLE podcast ADD COLUMN first_refresh INTEGER;
    UPDATE podcast SET first_refresh = last_refresh;
    ALTER TABLE podcast ADD COLUMN is_complete INTEGER NOT NULL DEFAULT 0; -- itunes:complete
    -- `moved_to` is the feed's own word, which answers without a body do not repeat.
    ALTER TABLE podcast ADD COLUMN is_announced INTEGER NOT NULL DEFAULT 0;
    -- The last failure was that of the network: it is asked for again when that comes back.
    ALTER TABLE podcast ADD COLUMN is_away INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX podcast_away ON podcast (id) WHERE is_away = 1;
    """

  private static let fourth = """
    -- Which item is which episode is decided by the columns that hold what the feed says: see `Identity`.
    ALTER TABLE episode DROP COLUMN identity;
    -- Its address is another episode's by now: what is there is not it.
    ALTER TABLE episode ADD COLUMN is_replaced INTEGER NOT NULL DEFAULT 0;
    -- Counts the changes of a podcast's episodes: what was decided about them holds while it stays.
    ALTER TABLE podcast ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
    -- The name was made of a host: it lasts until the feed tells its title (`has_title`).
    ALTER TABLE podcast ADD COLUMN is_provisional INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE subscription ADD COLUMN is_provisional INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE result ADD COLUMN is_provisional INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE podcast ADD COLUMN has_title INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE podcast ADD COLUMN guid TEXT;          -- podcast:guid
    ALTER TABLE podcast ADD COLUMN ttl INTEGER;        -- RSS ttl, in minutes
    ALTER TABLE podcast ADD COLUMN digest INTEGER;     -- of the last body that was read
    -- An archive (RFC 5005): `next_page` is the page that is to be read next.
    ALTER TABLE podcast ADD COLUMN walks_whole INTEGER NOT NULL DEFAULT 0;   -- up to its end, known or not
    ALTER TABLE podcast ADD COLUMN page_failures INTEGER NOT NULL DEFAULT 0; -- in a row
    ALTER TABLE podcast ADD COLUMN page_not_before INTEGER;
    UPDATE podcast SET walks_whole = 1 WHERE next_page IS NOT NULL;
    """

  private static let third = """
    -- What each commit has changed, for the processes that show it: see `ChangeLog`.
    CREATE TABLE change_log (number INTEGER PRIMARY KEY, changes TEXT NOT NULL);

    -- When what a directory lists last changed, in nanoseconds since 1970; `size` is that of the outlines of
    -- `subscriptions.opml`.
    CREATE TABLE folder (name TEXT PRIMARY KEY, changed INTEGER NOT NULL, size INTEGER NOT NULL DEFAULT 0)
      WITHOUT ROWID;
    INSERT INTO folder (name, changed) SELECT column1, unixepoch() * 1000000000
      FROM (VALUES ('searches'), ('subscriptions'), ('latest'), ('list'));
    ALTER TABLE podcast ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE search ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE result ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE subscription ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
    UPDATE podcast SET changed = coalesce(last_refresh, 0) * 1000000000;
    UPDATE search SET changed = searched * 1000000000;
    UPDATE subscription SET changed = subscribed * 1000000000;

    -- Kept by triggers, so that nothing has to be counted or scanned.
    ALTER TABLE podcast ADD COLUMN is_followed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE podcast ADD COLUMN hidden_count INTEGER NOT NULL DEFAULT 0;
    UPDATE podcast SET is_followed = id IN (SELECT podcast_id FROM subscription),
      hidden_count = (SELECT count(*) FROM episode e WHERE e.podcast_id = podcast.id AND e.hidden = 1);
    DROP INDEX episode_hidden;
    CREATE INDEX episode_hidden ON episode (podcast_id) WHERE hidden = 1;
    CREATE TRIGGER episode_is_hidden AFTER UPDATE OF hidden ON episode WHEN old.hidden <> new.hidden BEGIN
      UPDATE podcast SET hidden_count = hidden_count + new.hidden - old.hidden WHERE id = new.podcast_id;
    END;
    CREATE INDEX podcast_due ON podcast (max(coalesce(next_refresh, 0), coalesce(claimed_until, 0)))
      WHERE is_followed = 1;
    CREATE INDEX podcast_newest ON podcast (newest DESC) WHERE is_followed = 1;
    CREATE INDEX podcast_refreshed ON podcast (last_refresh);

    -- A public directory has named the feed: nothing in its address is a secret.
    ALTER TABLE podcast ADD COLUMN is_listed INTEGER NOT NULL DEFAULT 0;
    UPDATE podcast SET is_listed = 1 WHERE may_be_private = 0 AND id IN
      (SELECT r.podcast_id FROM result r JOIN search s ON s.id = r.search_id WHERE s.source <> 'local');

    -- The name is the user's own word, not made from the title.
    ALTER TABLE subscription ADD COLUMN is_own_name INTEGER NOT NULL DEFAULT 0;
    -- Bytes of its line in the list.
    ALTER TABLE subscription ADD COLUMN outline_size INTEGER NOT NULL DEFAULT 0;
    CREATE TRIGGER subscription_begins AFTER INSERT ON subscription BEGIN
      UPDATE podcast SET is_followed = 1 WHERE id = new.podcast_id;
      UPDATE folder SET size = size + new.outline_size WHERE name = 'list';
    END;
    CREATE TRIGGER subscription_ends AFTER DELETE ON subscription BEGIN
      UPDATE podcast SET is_followed = 0 WHERE id = old.podcast_id;
      UPDATE folder SET size = size - old.outline_size WHERE name = 'list';
    END;
    CREATE TRIGGER subscription_outline AFTER UPDATE OF outline_size ON subscription BEGIN
      UPDATE folder SET size = size + new.outline_size - old.outline_size WHERE name = 'list';
    END;
    """

  private static let second = """
    -- Episodes that a feed's setting `keep` has had downloaded.
    CREATE TABLE kept (episode_id INTEGER PRIMARY KEY);
    """

  private static let first = """
    CREATE TABLE podcast (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      feed_url TEXT NOT NULL,
      feed_key TEXT NOT NULL UNIQUE,
      title TEXT NOT NULL,
      name TEXT NOT NULL,
      name_key TEXT NOT NULL UNIQUE,
      author TEXT, link TEXT, language TEXT, categories TEXT, description TEXT, image_url TEXT,
      explicit INTEGER,
      episode_count INTEGER NOT NULL DEFAULT 0,
      next_episode INTEGER NOT NULL DEFAULT 1,
      newest INTEGER,                            -- publication of the newest episode
      may_be_private INTEGER NOT NULL DEFAULT 0, -- the feed may be on a private host: who named it may say so
      is_private INTEGER NOT NULL DEFAULT 0,     -- the feed came from a private host: its enclosures may too
      last_refresh INTEGER, next_refresh INTEGER, error TEXT,
      not_before INTEGER,                        -- the server's Retry-After
      failures INTEGER NOT NULL DEFAULT 0,       -- in a row
      etag TEXT, last_modified TEXT,             -- verbatim
      last_whole INTEGER,                        -- the last answer that was no 304
      next_page TEXT,                            -- an archive page (RFC 5005) that is still to be read
      moved_to TEXT, moved_since INTEGER,        -- a move seen once
      claimed_until INTEGER                      -- a process is refreshing it
    );

    -- A podcast's episodes lie side by side: their numbers begin with the podcast's.
    CREATE TABLE episode (
      id INTEGER PRIMARY KEY,
      identity TEXT NOT NULL,                    -- the guid, else made from the address
      guid TEXT,
      media_key BLOB NOT NULL,
      stem TEXT NOT NULL,
      extension TEXT NOT NULL,
      title TEXT NOT NULL,
      published INTEGER NOT NULL,
      is_dated INTEGER NOT NULL,
      podcast_id INTEGER NOT NULL REFERENCES podcast (id) ON DELETE CASCADE,
      hidden INTEGER NOT NULL DEFAULT 0,
      played INTEGER NOT NULL DEFAULT 0,
      fingerprint INTEGER NOT NULL,              -- of what the feed said
      enclosure_url TEXT NOT NULL,
      media_type TEXT, feed_length INTEGER, duration INTEGER, season INTEGER, number INTEGER,
      explicit INTEGER, link TEXT, image_url TEXT, transcripts TEXT, chapters_url TEXT,
      notes_length INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX episode_media_key ON episode (media_key);
    CREATE INDEX episode_newest ON episode (podcast_id, published DESC) WHERE hidden = 0;
    CREATE INDEX episode_hidden ON episode (podcast_id) WHERE hidden = 1;

    -- Apart, so that a listing reads past no long texts.
    CREATE TABLE notes (episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE, text TEXT);

    CREATE TABLE search (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE,
      source TEXT NOT NULL,
      searched INTEGER NOT NULL
    );
    CREATE TABLE result (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
      podcast_id INTEGER NOT NULL REFERENCES podcast (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      name TEXT NOT NULL,
      name_key TEXT NOT NULL,
      state INTEGER NOT NULL DEFAULT 0,          -- ResultState
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
      subscribed INTEGER NOT NULL
    );

    -- The full-text index: see `SearchText`.
    CREATE VIRTUAL TABLE podcast_text USING fts5 (
      title, author, rest, content = '', tokenize = 'unicode61 remove_diacritics 2');
    CREATE VIRTUAL TABLE episode_text USING fts5 (
      title, notes, content = '', tokenize = 'unicode61 remove_diacritics 2');

    -- Answers of search services, and when each was asked.
    CREATE TABLE answer (key TEXT PRIMARY KEY, body TEXT NOT NULL, fetched INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX answer_fetched ON answer (fetched);
    CREATE TABLE service_call (service TEXT NOT NULL, at INTEGER NOT NULL);

    -- Commits that other processes were told of.
    CREATE TABLE counter (commits INTEGER NOT NULL);
    INSERT INTO counter VALUES (0);
    """
}
