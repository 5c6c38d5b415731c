internal import FeedKit
package import PodcastModel
internal import PosixKit

extension Catalog {
  /// Subscribes to all feeds of a list; removes none. Feeds are not fetched: the scheduler does. A list may be a
  /// stranger's: none of its feeds may be on a private network until the user has typed its address.
  /// - Returns: for a link file only its address.
  /// - Throws: EINVAL where it is neither a list nor a link.
  package func importOPML(_ bytes: [UInt8]) throws(CatalogError) -> OPMLImport {
    let list = try list(bytes)
    if let link = list.link {
      if SubscriptionAddress.typed(link).isEmpty {
        throw CatalogError(.EINVAL, "the link leads to no web address")
      }
      var result = OPMLImport(added: 0, known: 0, problems: [])
      result.link = link
      return result
    }
    return try store.change { database, changes in
      var result = OPMLImport(added: 0, known: 0, problems: list.warnings)
      result.refused = list.refusals
      for feed in list.feeds {
        let podcast = try PodcastRow.recordNamed(
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

  /// All subscriptions as OPML 2.0, with the whole addresses: for the owner's eyes only.
  package func exportOPML() throws(CatalogError) -> [UInt8] {
    try store.read { try SubscriptionList.bytes(in: $0) }
  }

  /// How many bytes `exportOPML` gives.
  package func subscriptionListSize() throws(CatalogError) -> Int64 {
    Int64(try exportOPML().count)
  }
}
