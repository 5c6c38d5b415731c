internal import Glibc
package import SQLiteKit

/// A dump as Podcast Index publishes it, with its schema and its oddities: missing numbers are empty texts, numbers may be
/// texts, some scores are impossible, one show is there several times, titles have control characters.
package struct PodcastIndexDump {
  /// The columns of the real one, in its order.
  package static let schema = """
    CREATE TABLE podcasts (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, lastUpdate INTEGER,
      link TEXT NOT NULL, lastHttpStatus INTEGER, dead INTEGER, contentType TEXT NOT NULL, itunesId INTEGER,
      originalUrl TEXT NOT NULL, itunesAuthor TEXT NOT NULL, itunesOwnerName TEXT NOT NULL, explicit INTEGER,
      imageUrl TEXT NOT NULL, itunesType TEXT NOT NULL, generator TEXT NOT NULL, newestItemPubdate INTEGER,
      language TEXT NOT NULL, oldestItemPubdate INTEGER, episodeCount INTEGER, popularityScore INTEGER,
      priority INTEGER, createdOn INTEGER, updateFrequency INTEGER, chash TEXT NOT NULL, host TEXT NOT NULL,
      newestEnclosureUrl TEXT NOT NULL, podcastGuid TEXT NOT NULL, description TEXT NOT NULL,
      category1 TEXT NOT NULL, category2 TEXT NOT NULL, category3 TEXT NOT NULL, category4 TEXT NOT NULL,
      category5 TEXT NOT NULL, category6 TEXT NOT NULL, category7 TEXT NOT NULL, category8 TEXT NOT NULL,
      category9 TEXT NOT NULL, category10 TEXT NOT NULL, newestEnclosureDuration INTEGER, duplicateOf INTEGER)
    """

  private let database: Database
  private var number: Int64 = 0

  /// Makes the database, in a file that is not there yet.
  /// - Parameter schema: another one, for a dump that is none.
  package init(path: String, schema: String = Self.schema) throws {
    var options = Database.Options()
    options.isBeingMade = true
    options.cacheSize = 64_000
    database = try Database(path: path, options: options)
    try database.script("\(schema); BEGIN")
  }

  /// Runs a statement in it: for what no dump has.
  package func script(_ sql: String) throws { try database.script(sql) }

  /// Adds a row; columns that are not named are empty texts.
  package mutating func add(_ values: [String: any Bindable]) throws {
    number += 1
    var row: [(column: String, value: any Bindable)] = Self.columns.map { ($0, values[$0] ?? "") }
    if values["id"] == nil { row[0].value = number }
    let statement = Database.insertion(into: "podcasts", row.map(\.column))
    try database.run(statement, values: row.map(\.value))
  }

  /// Writes all that was added.
  package func finish() throws { try database.script("COMMIT") }

  private static let columns: [String] =
    schema.split(separator: "(", maxSplits: 1)[1].split(separator: ",").map { column in
      String(column.split(whereSeparator: \.isWhitespace)[0])
    }
}

extension PodcastIndexDump {
  /// Adds many made-up podcasts, as the real dump has them: words by Zipf's law, most shows small and old.
  package mutating func addMany(_ count: Int, now: Int64, seed: UInt64 = 1) throws {
    var random = SeededGenerator(seed: seed)
    let words = Words()
    for _ in 0..<count {
      let title = words.text(Int.random(in: 1...6, using: &random), &random)
      let isListed = Int.random(in: 0..<10, using: &random) < 5
      let newest = now - Int64(pow(Double.random(in: 0...1, using: &random), 2) * 10 * 365 * 86_400)
      let number = number + 1
      let host = "h\(Int.random(in: 0..<20_000, using: &random)).example"
      let category = Self.categories[Int.random(in: 0..<Self.categories.count, using: &random)]
      let language = Self.languages[Int.random(in: 0..<Self.languages.count, using: &random)]
      let score = Int64(max(0, 12 * pow(Double.random(in: 0...1, using: &random), 6) - 1))
      try add([
        "url": "https://feeds.\(host)/show/\(number).xml", "title": title, "lastUpdate": newest,
        "link": "https://\(host)/\(number)", "lastHttpStatus": 200, "dead": 0,
        "contentType": "application/rss+xml",
        "itunesId": isListed ? 1_000_000_000 + number : "" as any Bindable,
        "originalUrl": "https://\(host)/\(number)/feed",
        "itunesAuthor": words.text(2, &random), "explicit": 0,
        "imageUrl": "https://\(host)/images/\(number)/cover.jpg",
        "itunesType": "episodic", "generator": "generator", "newestItemPubdate": newest, "language": language,
        "oldestItemPubdate": newest - Int64.random(in: 0...300_000_000, using: &random),
        "episodeCount": Int64.random(in: 1...120, using: &random), "popularityScore": score > 9 ? 29 : score,
        "createdOn": newest, "chash": String(random.next(), radix: 16), "host": host,
        "newestEnclosureUrl": "https://\(host)/media/\(number)/newest-episode.mp3",
        "podcastGuid": String(random.next(), radix: 16) + String(random.next(), radix: 16),
        "description": words.text(Int.random(in: 20...80, using: &random), &random), "category1": category,
        "category2": Int.random(in: 0..<2, using: &random) == 0 ? "" : "culture",
        "newestEnclosureDuration": 1800,
      ])
    }
  }

  private static let categories = [
    "news", "comedy", "society", "true crime", "history", "after-shows", "music",
  ]
  private static let languages = [
    "en", "en-us", "en-US", "es", "de", "de-DE", "fr", "pt-br", "", "zh-cn", "xx-broken text",
  ]

  /// A language of a hundred thousand words, few of them very often and most seldom.
  private struct Words {
    private let all: [String]

    init() {
      let syllables = [
        "ka", "lo", "mi", "ra", "ber", "to", "lin", "sa", "ne", "ku", "vor", "pe", "sti", "an", "do", "gre",
        "ush", "il",
      ]
      let common = [
        "the", "podcast", "show", "podcasts", "podcasting", "with", "radio", "and", "news", "of", "talk",
      ]
      all =
        common
        + (0..<100_000).map { rank in
          var (rest, word) = (rank, "")
          repeat {
            word += syllables[rest % syllables.count]
            rest /= syllables.count
          } while rest > 0
          return word
        }
    }

    /// About proportional to 1/rank.
    func text(_ count: Int, _ random: inout SeededGenerator) -> String {
      var text: [String] = []
      for _ in 0..<count {
        let rank = exp(Double.random(in: 0...1, using: &random) * log(Double(all.count)))
        text.append(all[min(Int(rank) - 1, all.count - 1)])
      }
      return text.joined(separator: " ")
    }
  }
}
