internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// Looks at an address that a user gave: it may be a feed's, or that of a web page that names its feed.
struct FeedByAddress: Sendable {
  let feeds: FeedRefresher
  /// The user typed it: it may be on a private network.
  let isTyped: Bool
  /// Hears of each request, which may be cancelled.
  let started: @Sendable (any Cancellable) -> Void

  struct Found {
    var document: FetchedFeed
    var answer: FeedAnswer
    var address: WebAddress
    /// Whether the user named the address, rather than a web page.
    var isNamed: Bool
  }

  /// Feeds of a page that are looked at.
  private static let mostLinks = 5

  /// Looks at one address after the other, until a feed is found.
  func find(_ addresses: [WebAddress]) throws(FeedFailure) -> Found {
    var failure = FeedFailure(HTTPError(.malformedURL, "not a feed address", .EINVAL))
    for address in addresses {
      do throws(FeedFailure) {
        return try fetch(address, isTyped ? .typed : .untyped, isNamed: true)
      } catch {
        if !error.links.isEmpty {
          return try find(error.links, from: address, isPrivate: isTyped && error.isFromPrivateHost)
        }
        if error.isCancelled { throw error }
        failure = error
      }
    }
    throw failure
  }

  /// Looks at the feeds that a page names: it may name a blog's before the podcast's.
  /// - Returns: the first with something to play, else the first.
  private func find(
    _ links: [WebAddress], from page: WebAddress, isPrivate: Bool
  ) throws(FeedFailure) -> Found {
    var first: Found?
    var failure = FeedFailure(.cancelled)
    for link in links.prefix(Self.mostLinks) {
      let address = FeedCredentials.lent(by: page, to: link)
      do throws(FeedFailure) {
        let found = try fetch(address, isPrivate ? .allowed : .refused, isNamed: false)
        if !found.document.episodes.isEmpty { return found }
        first = first ?? found
      } catch {
        if error.isCancelled { throw error }
        failure = error
      }
    }
    guard let first else { throw failure }
    return first
  }

  private func fetch(
    _ address: WebAddress, _ privateHosts: FeedFetcher.PrivateHosts, isNamed: Bool
  ) throws(FeedFailure) -> Found {
    let now = feeds.store.now
    let question = FeedFetcher.Question(address: address, privateHosts: privateHosts, now: now)
    let answer = try feeds.fetcher.fetch(question, started: started)
    guard case .feed(let document) = answer.content else { throw FeedFailure(status: answer.head, now: now) }
    return Found(document: document, answer: answer, address: address, isNamed: isNamed)
  }

  /// The podcast at an address, for a list of results.
  func podcast(at addresses: [WebAddress]) throws(CatalogError) -> FoundPodcast {
    let found: Found
    do throws(FeedFailure) { found = try find(addresses) } catch {
      throw error.isCancelled ? .cancelled : error.error
    }
    let feed = found.document
    var podcast = FoundPodcast(feedURL: found.address, title: feed.title.map(TitleText.line) ?? "")
    if podcast.title.isEmpty { podcast.title = found.address.host ?? "" }
    (podcast.author, podcast.link, podcast.imageURL) = (feed.author, feed.link, feed.imageURL)
    (podcast.language, podcast.description) = (feed.language, feed.description)
    (podcast.categories, podcast.explicit) = (feed.categories, feed.explicit)
    podcast.episodeCount = feed.episodes.count
    podcast.newest = feed.episodes.compactMap(\.published).max()
    podcast.isListed = false
    return podcast
  }
}
