internal import SQLiteKit

/// What a commit has changed in the catalogue: as little as says all of it.
package enum CatalogChange: Hashable, Sendable {
  /// Searches were made or forgotten: look at the list again.
  case searches
  case search(Int64)
  case results(search: Int64)
  /// One result of a search was taken away from it.
  case result(Int64, search: Int64)
  case hiddenInSearch(result: Int64, episode: Int64)
  /// A podcast's facts and any of its episodes.
  case podcast(Int64)
  /// A podcast's facts: title, author, names, not its episodes.
  case facts(podcast: Int64)
  /// Episodes that are new: those of the podcast with these numbers, which follow each other.
  case newEpisodes(podcast: Int64, first: Int64, last: Int64)
  /// A podcast's refresh has ended, well or not: when it was, when the next is due, its error, and how many
  /// new episodes it brought.
  case refreshed(podcast: Int64, newEpisodes: Int)
  /// What is subscribed to, or under which name: look at the list again.
  case subscriptions
  case subscription(Int64, podcast: Int64)
  /// One episode's marks (played, hidden) or what its feed says of it.
  case episode(Int64)
  case queue
  /// The full-text index has caught up with many new texts.
  case texts
  /// A file beside an episode, or a cover, has come into the cache or left it: by its node's number.
  case sidecar(Int64)
  /// This device has synchronized: subscriptions that came and went, and episodes that got another state.
  case synchronized(added: Int, removed: Int, episodes: Int)
  /// The log of changes no longer has them all: look at everything again.
  case everything
}

package struct CatalogCommit: Hashable, Sendable {
  /// One more than the commit's before, whichever process made that.
  package var number: Int64
  package var changes: [CatalogChange]
}

extension CatalogChange {
  var mayBeOfList: Bool {
    switch self {
    case .subscriptions, .subscription, .podcast, .facts, .everything: true
    default: false
    }
  }

  /// - Parameter text: a change as `String(describing:)` writes it into the log of commits: "result(5, search: 2)".
  /// - Returns: `everything` for a text that makes no sense, or that another version has written.
  init(text: some StringProtocol) {
    let numbers = text.split { !$0.isNumber && $0 != "-" }.compactMap { Int64($0) }
      .filter { (0...Self.largest).contains($0) }
    self =
      switch (text.prefix { $0 != "(" }, numbers.count) {
      case ("searches", 0): .searches
      case ("search", 1): .search(numbers[0])
      case ("results", 1): .results(search: numbers[0])
      case ("result", 2): .result(numbers[0], search: numbers[1])
      case ("hiddenInSearch", 2): .hiddenInSearch(result: numbers[0], episode: numbers[1])
      case ("podcast", 1): .podcast(numbers[0])
      case ("facts", 1): .facts(podcast: numbers[0])
      case ("newEpisodes", 3) where numbers[1] <= numbers[2]:
        .newEpisodes(podcast: numbers[0], first: numbers[1], last: numbers[2])
      case ("refreshed", 2): .refreshed(podcast: numbers[0], newEpisodes: Int(numbers[1]))
      case ("subscriptions", 0): .subscriptions
      case ("subscription", 2): .subscription(numbers[0], podcast: numbers[1])
      case ("episode", 1): .episode(numbers[0])
      case ("sidecar", 1): .sidecar(numbers[0])
      case ("queue", 0): .queue
      case ("texts", 0): .texts
      case ("synchronized", 3):
        .synchronized(added: Int(numbers[0]), removed: Int(numbers[1]), episodes: Int(numbers[2]))
      default: .everything
      }
  }

  /// Numbers above are nobody's: an episode's has 20 bits more than its podcast's.
  private static let largest: Int64 = 1 << 56
}

/// The table of commits: what each has changed, written in its own transaction, so that no process misses one
/// or hears of two in the wrong order, however late it looks.
enum ChangeLog {
  /// The most commits that the table of changes keeps. A process that has missed more reads the whole catalogue again.
  static let length: Int64 = 4096
  /// More changes than these of one commit are `everything`.
  private static let changeLimit = 256

  static func append(_ changes: [CatalogChange], in database: Database) throws {
    let told = changes.count > changeLimit ? [.everything] : changes
    try database.run(
      "INSERT INTO change_log (changes) VALUES (?)", told.map { "\($0)" }.joined(separator: "\n"))
    try database.run("DELETE FROM change_log WHERE number <= ?", database.lastInsertedID - length)
  }

  static func count(in database: Database) throws -> Int64 {
    // What else has written to the file may have made it anything.
    min(max(try database.number("SELECT max(number) FROM change_log") ?? 0, 0), 1 << 60)
  }

  /// The commits after `number`, in order; one that says `everything` where some of them are not in the table.
  static func commits(after number: Int64, in database: Database) throws -> [CatalogCommit] {
    let count = try count(in: database)
    if count <= number { return [] }
    let commits = try database.all(
      "SELECT number, changes FROM change_log WHERE number > ? AND number <= ? ORDER BY number", number, count
    ) { row in
      CatalogCommit(
        number: row.int64(0), changes: row.string(1).split(separator: "\n").map { CatalogChange(text: $0) })
    }
    if commits.count == count - number { return commits }
    return [CatalogCommit(number: count, changes: [.everything])]
  }
}
