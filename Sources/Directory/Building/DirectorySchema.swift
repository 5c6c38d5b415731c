internal import SQLiteKit

/// The directory's file. A podcast's number is its rank, so that the best of those that match come first.
enum DirectorySchema {
  static let version = 3

  static let tables = """
    -- One row: what the file was made of.
    CREATE TABLE fact (
      version INTEGER NOT NULL, podcasts INTEGER NOT NULL, refused INTEGER NOT NULL, made INTEGER NOT NULL,
      newest INTEGER NOT NULL, source TEXT NOT NULL, identity TEXT);
    -- feed is without "https://"; categories has a byte for each; apple and number are those of Apple and Podcast Index.
    CREATE TABLE podcast (
      id INTEGER PRIMARY KEY, feed TEXT NOT NULL, title TEXT NOT NULL, author TEXT, language TEXT, apple INTEGER,
      number INTEGER, categories BLOB);
    -- The best of each category, and of each language in it ('' for all languages).
    CREATE TABLE category (
      category INTEGER NOT NULL, language TEXT NOT NULL, podcast INTEGER NOT NULL,
      PRIMARY KEY (category, language, podcast)) WITHOUT ROWID;
    CREATE VIRTUAL TABLE podcast_text USING fts5 (
      title, author, content = '', detail = none, columnsize = 0, prefix = '1 2 3',
      tokenize = 'unicode61 remove_diacritics 2');
    CREATE VIRTUAL TABLE word USING fts5vocab (podcast_text, row);
    """

  /// The words of the full-text index in a table of their own, to find those with one beginning. The index itself counts the
  /// rows of each word that it names, which takes too long.
  static let words = """
    CREATE TABLE known_word (word TEXT PRIMARY KEY) WITHOUT ROWID;
    INSERT INTO known_word SELECT term FROM word;
    """

  static let indexes = """
    CREATE INDEX podcast_apple ON podcast (apple) WHERE apple IS NOT NULL;
    CREATE INDEX podcast_number ON podcast (number) WHERE number IS NOT NULL;
    """

  /// In the text index, before a language: a character that no word of a query has.
  static let languageMark = "\u{E000}"

  /// What is left out of the addresses of feeds.
  static let usualScheme = "https://"
}
