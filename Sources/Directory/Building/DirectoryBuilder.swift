internal import PodcastModel
internal import SQLiteKit

/// Makes the directory's file of the podcasts of a dump: takes them in any order, then writes them by rank.
final class DirectoryBuilder {
  /// So many podcasts of each category are listed, and of each language in it.
  static let mostListed = 200
  /// Podcasts that are written at once.
  private static let batch = 2000

  /// The podcasts as they come, until they are sorted by rank. The file is deleted at the end.
  private let waiting: Database
  private let directory: Database
  private let now: Int64
  private var pending: [DumpRecord] = []
  private(set) var count = 0

  /// - Parameters:
  ///   - path: of the directory's file. None of that name may be there yet.
  ///   - waiting: of the file of the podcasts that are not sorted yet. None of that name may be there yet.
  ///   - now: in seconds since 1970.
  init(path: String, waiting: String, now: Int64) throws {
    self.now = now
    var options = Database.Options()
    options.isBeingMade = true
    options.cacheSize = 16_000
    self.waiting = try Database(path: waiting, options: options)
    // SQLite sorts the podcasts on the disk, not in memory.
    try self.waiting.script("PRAGMA temp_store = file; CREATE TABLE found (rank INTEGER, record BLOB)")
    try self.waiting.script("CREATE TABLE later (record BLOB)")
    try self.waiting.run("BEGIN")
    options.cacheSize = 32_000
    directory = try Database(path: path, options: options)
    try directory.script("PRAGMA temp_store = file")
    try directory.script(DirectorySchema.tables)
    try directory.run("BEGIN")
  }

  func add(_ record: DumpRecord) throws {
    pending.append(record)
    count += 1
    if pending.count >= Self.batch { try keepPending() }
  }

  private func keepPending() throws {
    try waiting.run("INSERT INTO found VALUES (?, ?)", rows: pending.count) { index, values in
      values.add(Rank.key(pending[index], now: now))
      values.add(pending[index].encoded)
    }
    pending.removeAll(keepingCapacity: true)
  }

  /// Writes all that has been added, and what the file was made of.
  /// - Parameter progress: called with how many are written.
  func finish(_ facts: DirectoryFacts, progress: (Int) -> Void) throws {
    try keepPending()
    var writer = RankedWriter(directory, now: now)
    var titles = SeenTitles(count: count)
    var later: [[UInt8]] = []
    var failure: (any Error)?
    func take(_ coded: [UInt8], isRepeated: (DumpRecord) -> Bool) -> Bool {
      guard let record = try? DumpRecord(decoding: coded[...]) else { return true }
      do {
        if isRepeated(record) {
          later.append(coded)
          if later.count >= Self.batch { try keepLater(&later) }
        } else if try writer.add(record) {
          progress(writer.count)
        }
      } catch {
        failure = error
      }
      return failure == nil
    }
    try waiting.forEach("SELECT record FROM found ORDER BY rank") { row in
      take(row.blob(0)) { record in
        !titles.insert(record.title.lowercased(), WebAddress(record.feed).host ?? "")
      }
    }
    if let failure { throw failure }
    try keepLater(&later)
    try waiting.forEach("SELECT record FROM later ORDER BY rowid") { row in take(row.blob(0)) { _ in false } }
    if let failure { throw failure }
    try writer.flush()
    try directory.script(DirectorySchema.indexes)
    try directory.run("INSERT INTO podcast_text (podcast_text) VALUES ('optimize')")
    try directory.script(DirectorySchema.words)
    try directory.run(
      "INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?, ?)", DirectorySchema.version, writer.count, facts.refused,
      now,
      writer.newest, facts.source, facts.identity)
    try directory.run("COMMIT")
    progress(writer.count)
  }

  private func keepLater(_ records: inout [[UInt8]]) throws {
    let all = records
    try waiting.run("INSERT INTO later VALUES (?)", rows: all.count) { index, values in values.add(all[index])
    }
    records.removeAll(keepingCapacity: true)
  }
}

/// Writes podcasts in the order of their ranks.
private struct RankedWriter {
  private let database: Database
  private var pending: [DumpRecord] = []
  private(set) var count = 0
  /// How many podcasts each category lists, and each of its languages.
  private var listed: [String: Int] = [:]
  /// The newest date of an episode that is not in the future: about the time of the dump.
  private(set) var newest: Int64 = 0
  private let now: Int64
  private static let batch = 2000

  init(_ database: Database, now: Int64) { (self.database, self.now) = (database, now) }

  /// - Returns: whether some have been written just now.
  mutating func add(_ record: DumpRecord) throws -> Bool {
    pending.append(record)
    if pending.count < Self.batch { return false }
    try flush()
    return true
  }

  mutating func flush() throws {
    let records = pending
    let first = Int64(count + 1)
    let categories = records.map { $0.categories.compactMap(Categories.number) }
    try database.run("INSERT INTO podcast VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows: records.count) {
      index, values in
      let record = records[index]
      let feed = record.feed
      values.add(first + Int64(index))
      values.add(
        feed.hasPrefix(DirectorySchema.usualScheme)
          ? String(feed.dropFirst(DirectorySchema.usualScheme.count)) : feed)
      values.add(record.title)
      values.add(record.author.isEmpty ? nil : record.author)
      values.add(record.language.isEmpty ? nil : record.language)
      values.add(record.apple == 0 ? nil : record.apple)
      values.add(record.number == 0 ? nil : record.number)
      values.add(categories[index])
    }
    try database.run("INSERT INTO podcast_text (rowid, title, author) VALUES (?, ?, ?)", rows: records.count)
    { index, values in
      let record = records[index]
      let language = Self.primary(record.language)
      values.add(first + Int64(index))
      values.add(SearchText.indexed(record.title))
      values.add(
        (record.author.isEmpty ? "" : SearchText.indexed(record.author))
          + (language.isEmpty ? "" : " \(DirectorySchema.languageMark)\(language)"))
    }
    var entries: [(category: UInt8, language: String, podcast: Int64)] = []
    for (index, record) in records.enumerated() where !record.isLate {
      let language = Self.primary(record.language)
      for category in Set(categories[index]) {
        for language in language.isEmpty ? [""] : ["", language] {
          let key = "\(category) \(language)"
          if listed[key, default: 0] >= DirectoryBuilder.mostListed { continue }
          listed[key, default: 0] += 1
          entries.append((category, language, first + Int64(index)))
        }
      }
    }
    try database.run("INSERT INTO category VALUES (?, ?, ?)", rows: entries.count) { index, values in
      values.add(Int64(entries[index].category))
      values.add(entries[index].language)
      values.add(entries[index].podcast)
    }
    for record in records where record.newest <= now { newest = max(newest, record.newest) }
    count += records.count
    pending.removeAll(keepingCapacity: true)
  }

  private static func primary(_ language: String) -> String { String(language.prefix { $0 != "-" }) }
}
