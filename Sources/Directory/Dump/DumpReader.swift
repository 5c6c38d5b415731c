internal import PodcastModel
internal import SQLiteKit

/// Reads the one table of the dump, in the confined process.
struct DumpReader {
  static let table = "podcasts"

  /// The columns that are used. A dump may lack all but two.
  enum Column: Int, CaseIterable {
    case id, url, title, itunesAuthor, itunesOwnerName, language, itunesId, episodeCount, newestItemPubdate
    case oldestItemPubdate, popularityScore, dead, duplicateOf
    case category1, category2, category3, category4, category5, category6, category7, category8, category9
    case category10

    var isRequired: Bool { self == .url || self == .title }
  }

  private let database: Database
  private let query: String

  /// Checks that the file is sound and has the table.
  /// - Throws: `DirectoryError` (EINVAL) where it cannot be used.
  init(_ database: Database) throws {
    self.database = database
    var (others, kind): ([String], String?) = ([], nil)
    try database.forEach("SELECT type, name, sql FROM sqlite_master") { row in
      let (type, name, sql) = (row.string(0), row.string(1), row.string(2).uppercased())
      if type == "table", name.lowercased() == Self.table {
        kind = sql.contains("VIRTUAL") ? "virtual" : "table"
      }
      if type == "view" || type == "trigger" || type == "table" && sql.hasPrefix("CREATE VIRTUAL") {
        others.append(type == "table" ? "virtual table" : type)
      }
      return true
    }
    if let other = others.first {
      throw DirectoryError.refused("its database has a \(other), as no dump has")
    }
    guard kind == "table" else { throw DirectoryError.refused("its database has no table \(Self.table)") }
    let columns = Set(try database.all("PRAGMA table_info(\(Self.table))") { $0.string(1).lowercased() })
    for column in Column.allCases where column.isRequired && !columns.contains("\(column)".lowercased()) {
      throw DirectoryError.refused("its table \(Self.table) has no column \(column)")
    }
    let damage = try database.first("PRAGMA quick_check(\(Self.table))") { $0.string(0) } ?? "ok"
    if damage != "ok" {
      throw DirectoryError.refused("its database is damaged: \(PrintableText.line(damage).prefix(100))")
    }
    let wanted = Column.allCases.map { columns.contains("\($0)".lowercased()) ? "\"\($0)\"" : "NULL" }
    query = "SELECT \(wanted.joined(separator: ", ")) FROM \(Self.table) NOT INDEXED"
  }

  /// Calls `body` with each row that has a title and an address, and nil for each other row.
  func read(_ body: (DumpRecord?) -> Bool) throws {
    try database.forEach(query) { row in body(Self.record(row)) }
  }

  private static func record(_ row: borrowing Row) -> DumpRecord? {
    guard var record = DumpRecord(feed: text(.url, row), title: text(.title, row)) else { return nil }
    record.number = number(.id, row)
    record.author = DumpRecord.text(text(.itunesAuthor, row))
    if record.author.isEmpty { record.author = DumpRecord.text(text(.itunesOwnerName, row)) }
    record.language = DumpRecord.language(text(.language, row))
    record.apple = number(.itunesId, row)
    record.episodes = number(.episodeCount, row)
    record.newest = number(.newestItemPubdate, row)
    record.oldest = number(.oldestItemPubdate, row)
    let score = number(.popularityScore, row)
    record.score = score > 9 ? 0 : score
    record.isLate = number(.dead, row) != 0 || number(.duplicateOf, row) != 0
    for column in Column.category1.rawValue...Column.category10.rawValue where !row.isNull(at: column) {
      let name = row.string(column).lowercased()
      if !name.isEmpty, name.utf8.count <= 40, !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x2C }) {
        record.categories.append(name)
      }
    }
    return record
  }

  private static func text(_ column: Column, _ row: borrowing Row) -> String {
    row.isNull(at: column.rawValue) ? "" : row.string(column.rawValue)
  }

  /// A number, also where it stands as text; 0 where there is none that makes sense.
  private static func number(_ column: Column, _ row: borrowing Row) -> Int64 {
    let number = row.int64(column.rawValue)
    return (0..<DumpRecord.most).contains(number) ? number : 0
  }
}
