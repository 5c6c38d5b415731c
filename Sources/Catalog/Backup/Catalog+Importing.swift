internal import FeedKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What came of what a user brought along: a list of subscriptions, a backup, or a file that holds one link.
package struct OPMLImport: Hashable, Sendable {
  package var added: Int
  package var known: Int
  /// Entries that could not be used and what was repaired, one line each.
  package var problems: [String]
  /// How many of these are entries that could not be used.
  package var refused = 0
  /// Episodes that got a state, a mark or a place in the queue.
  package var episodes = 0
  /// Those that will get theirs when their feed comes.
  package var awaited = 0
  package var rules = 0
  /// Searches of a backup that are not there: nothing has been searched for yet. `search` does that, by the network.
  package var searches: [String] = []
  /// The file is no list, but a link to a feed or a web page: nothing has been subscribed to yet. `subscribe(address:)`
  /// does that, by the network.
  package var link: String?

  package init(added: Int, known: Int, problems: [String]) {
    (self.added, self.known, self.problems) = (added, known, problems)
  }
}

extension Catalog {
  /// Subscribes to all feeds of a list or a backup, and takes what it says of their episodes; removes nothing. Feeds are not
  /// fetched: the scheduler does. A list may be a stranger's: its feeds may not be on a private network until the user
  /// has typed their addresses. A backup that the user imports is the user's own.
  /// - Parameters:
  ///   - isDry: changes nothing, and tells what would come of it.
  ///   - mayBePrivate: whether it may say of its feeds that they may be on a private network; nil: a backup may.
  /// - Returns: for a link file only its address.
  /// - Throws: EINVAL where it is none of these, and only there.
  package func importOPML(
    _ bytes: [UInt8], isDry: Bool = false, mayBePrivate: Bool? = nil
  ) throws(CatalogError) -> OPMLImport {
    var list = try list(bytes)
    if let mayBePrivate { list.isBackup = mayBePrivate }
    if let link = list.link {
      if SubscriptionAddress.typed(link).isEmpty {
        throw CatalogError(.EINVAL, "the link leads to no web address")
      }
      var result = OPMLImport(added: 0, known: 0, problems: [])
      result.link = link
      return result
    }
    let told = Monitor<OPMLImport?>(nil)
    do {
      return try store.change { [list, now = store.now] database, changes in
        var importing = Importing(list, now: now, database)
        try importing.run()
        changes += importing.changes
        if isDry {
          told.withLock { $0 = importing.result }
          throw CatalogError.cancelled
        }
        return importing.result
      }
    } catch {
      if let result = told.withLock({ $0 }) { return result }
      throw error
    }
  }

  private func list(_ bytes: [UInt8]) throws(CatalogError) -> OPMLDocument {
    do throws(FeedError) {
      return try feeds.fetcher.reader.list(bytes)
    } catch {
      switch error {
      case .storage(let reason): throw CatalogError(reason.errno, reason.description)
      case .parserEnded, .tooSlow: throw CatalogError(.EIO, "the file \(error)")
      default: throw CatalogError(.EINVAL, "the file \(error)")
      }
    }
  }

  /// Episodes that a backup keeps, of which nobody has told the transfers yet.
  package func keepOrders() throws(CatalogError) -> [EpisodeEntry] {
    let keys = try store.read { database in
      try database.all(
        "SELECT e.media_key FROM keep_order k JOIN episode e ON e.id = k.episode_id"
      ) { MediaKey(at: 0, of: $0) }
    }
    return keys.isEmpty ? [] : Array(try entries(forKeys: keys).values)
  }

  package func removeKeepOrder(_ key: MediaKey) throws(CatalogError) {
    try store.write { database in
      try database.run(
        "DELETE FROM keep_order WHERE episode_id IN (SELECT id FROM episode WHERE media_key = ?)", key.bytes)
    }
  }
}

private struct Importing {
  private let list: OPMLDocument
  private let now: Int64
  private let database: Database
  private(set) var result: OPMLImport
  private(set) var changes: [CatalogChange] = []
  /// Podcasts that are followed, by the keys of their addresses.
  private var podcasts: [String: Int64] = [:]

  init(_ list: OPMLDocument, now: Int64, _ database: Database) {
    (self.list, self.now, self.database) = (list, now, database)
    result = OPMLImport(added: 0, known: 0, problems: list.warnings)
    result.refused = list.refusals
  }

  mutating func run() throws {
    for feed in list.feeds { try follow(feed) }
    if result.added > 0 { changes.append(.subscriptions) }
    for (key, episodes) in Dictionary(grouping: list.episodes, by: { FeedKey.text($0.podcast) }) {
      try take(episodes, ofFeed: key)
    }
    let isQueued = changes.contains(.queue)
    changes.removeAll { $0 == .queue }
    if isQueued { changes.append(.queue) }
    let known = Set(try database.all("SELECT name FROM search") { $0.string(0) })
    // A stranger's file may name anything; each becomes a folder's name.
    result.searches = list.searches.filter { name in
      !known.contains(name) && ![".", ".."].contains(name) && !name.contains("/")
        && !name.hasPrefix(Search.categoryMark)
    }
  }

  private mutating func follow(_ feed: OPMLDocument.Feed) throws {
    let podcast = try PodcastRecord.recordNamed(
      feed.url, title: feed.title, mayBePrivate: list.isBackup && feed.mayBePrivate, in: database)
    podcasts[FeedKey.text(feed.url)] = podcast
    if try SubscriptionRows.isSubscribed(podcast, in: database) {
      result.known += 1
    } else {
      let listed = try SubscriptionRows.subscribe(podcast, as: nil, or: feed.name, in: database)
      // A name that the user has given goes on to another program, too.
      if feed.name != nil {
        try database.run("UPDATE subscription SET is_own_name = 1 WHERE id = ?", listed.id)
      }
      result.added += 1
    }
    let own = try RuleRows.rules(ofPodcast: podcast, in: database)
    let rules = own.completed(by: feed.rules)
    result.rules += SubscriptionRules.Key.allCases.count { rules.text($0) != own.text($0) }
    if rules != own { try RuleRows.set(rules, ofPodcast: podcast, in: database) }
  }

  private mutating func take(_ episodes: [EpisodeReport], ofFeed key: String) throws {
    var lookup = try podcasts[key].map { try EpisodeLookup(podcast: $0, in: database) }
    for episode in episodes {
      let report = AwaitedReport(episode)
      if let id = lookup?.episode(guid: episode.guid, address: episode.address) {
        let told = try report.apply(to: id, now: now, in: database)
        if !told.isEmpty { result.episodes += 1 }
        changes += told
      } else {
        try report.save(now: now, in: database)
        result.awaited += 1
      }
    }
  }
}
