internal import FeedKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What came of a list of subscriptions, or of a file that holds one link.
package struct OPMLImport: Hashable, Sendable {
  /// Feeds that were not subscribed to before.
  package var added: Int
  /// Feeds that were.
  package var known: Int
  /// Entries that could not be used and what was repaired, one line each.
  package var problems: [String]
  /// How many of these are entries that could not be used.
  package var refused = 0
  /// The file is no list, but a link to a feed or a web page: nothing has been subscribed to yet. `subscribe(address:)`
  /// does that, by the network.
  package var link: String?

  package init(added: Int, known: Int, problems: [String]) {
    self.added = added
    self.known = known
    self.problems = problems
  }
}

extension Catalog {
  /// Subscribes to all feeds of a list; removes none. Feeds are not fetched: the scheduler does. A list may be a
  /// stranger's: none of its feeds may be on a private network until the user has typed its address.
  /// - Returns: for a link file only its address.
  /// - Throws: EINVAL where it is neither a list nor a link.
  package func importOPML(_ bytes: [UInt8]) throws(CatalogError) -> OPMLImport {
    let list = try list(bytes)
    var result = OPMLImport(added: 0, known: 0, problems: list.warnings)
    if let link = list.link {
      if SubscriptionAddress.typed(link).isEmpty {
        throw CatalogError(.EINVAL, "the link leads to no web address")
      }
      result.problems = []
      result.link = link
      return result
    }
    result.refused = list.refusals
    return try store.change { [result] database, changes in
      var result = result
      for feed in list.feeds {
        let podcast = try PodcastRecord.recordNamed(
          feed.url, title: feed.title, mayBePrivate: false, in: database)
        if try SubscriptionRows.isSubscribed(podcast, in: database) {
          result.known += 1
        } else {
          _ = try SubscriptionRows.subscribe(podcast, as: nil, or: feed.name, in: database)
          result.added += 1
        }
      }
      if result.added > 0 { changes.append(.subscriptions) }
      return result
    }
  }

  /// The addresses of the feeds in a list, whether they are followed or not.
  /// - Throws: EINVAL where it is no list.
  package func feeds(inOPML bytes: [UInt8]) throws(CatalogError) -> [WebAddress] {
    try list(bytes).feeds.map(\.url)
  }

  private func list(_ bytes: [UInt8]) throws(CatalogError) -> OPMLDocument {
    do throws(FeedError) {
      return try feeds.fetcher.reader.list(bytes)
    } catch {
      if case .storage(let reason) = error { throw CatalogError(reason.errno, reason.description) }
      throw CatalogError(.EINVAL, "the list of subscriptions \(error)")
    }
  }

  private enum ListColumn: Int, ColumnList { case feedURL, title, link }

  /// All subscriptions as OPML 2.0, with the whole addresses: for the owner's eyes only. The date in it is that of its
  /// last change.
  package func exportOPML() throws(CatalogError) -> [UInt8] { try Self.exportOPML(from: store) }

  static func exportOPML(from store: CatalogStore) throws(CatalogError) -> [UInt8] {
    let (feeds, changed) = try store.read { database in
      let feeds = try database.all(
        """
        SELECT \(ListColumn.list(of: "p")), CASE WHEN s.is_own_name THEN s.name END
        FROM subscription s JOIN shown p ON p.id = s.podcast_id ORDER BY s.name_key
        """
      ) { row in
        OPMLDocument.Feed(
          url: WebAddress(row.string(ListColumn.feedURL)), title: row.string(ListColumn.title),
          name: row.stringIfPresent(ListColumn.count),
          htmlURL: row.stringIfPresent(ListColumn.link).map { WebAddress($0) })
      }
      return (feeds, try database.first("SELECT list_changed FROM counter") { $0.int64(0) })
    }
    let list = OPMLDocument(title: "podcastfs subscriptions", feeds: feeds)
    return Array(list.text(created: (changed ?? 0) / 1_000_000_000).utf8)
  }

  /// How many bytes `exportOPML` gives.
  package func subscriptionListSize() throws(CatalogError) -> Int64 { Int64(try exportOPML().count) }
}
