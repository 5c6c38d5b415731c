internal import FeedKit
internal import HTTPKit
internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What speaks for a feed being that of a known podcast: episodes that both have, the title, `podcast:guid`.
struct SameShow: Sendable {
  /// Episodes that both have; and of these, those that have the same guid or address.
  private var (common, certain) = (0, 0)
  private let (items, known): (Int, Int)
  /// nil where one has none.
  private let hasSameTitle: Bool?
  private let hasSameGuid: Bool?

  /// Fewer may be a trailer or a guest's episode, which other shows list too.
  private static let few = 3

  init(_ feed: FetchedFeed, _ podcast: PodcastRecord, in database: Database) throws {
    let known = try KnownEpisodes(podcast: podcast.id, in: database).all.map(\.traits)
    (items, self.known) = (feed.episodes.count, known.count)
    let matches = EpisodeMatcher.match(feed.episodes.map(\.traits), known: known)
    for case .known(_, let rule) in matches {
      common += 1
      if [.unchanged, .guid, .address].contains(rule) { certain += 1 }
    }
    let title = podcast.hasTitle ? podcast.title : nil
    hasSameTitle = title.flatMap { title in feed.title.map { Self.words(title) == Self.words($0) } }
    hasSameGuid = podcast.guid.flatMap { guid in feed.guid.map { $0 == guid } }
  }

  private static func words(_ title: String) -> [Substring] {
    UniqueNames.key(TitleText.line(title)).split { !$0.isLetter && !$0.isNumber }
  }

  /// Half of the episodes of either, where those are a few; or of both.
  private func isMost(_ count: Int) -> Bool {
    count > 0 && count * 2 >= min(items, known) && (count >= Self.few || count * 2 >= max(items, known))
  }

  /// The podcast's own feed announces the address where this feed is.
  var isAnnounced: Bool { items > 0 && (known == 0 || common > 0 || hasSameGuid == true) }

  /// The podcast's address redirects to this feed: a domain may be sold, a hotel show its page first.
  /// - Parameter isOthers: another podcast of the catalogue is there.
  func isRedirected(isOthers: Bool) -> Bool {
    if isMost(certain) { return true }
    if known == 0, hasSameTitle != false || !isOthers { return true }
    return !isOthers && (hasSameGuid == true || hasSameTitle == true && hasSameGuid != false)
  }
}

extension FeedState {
  /// Whether an answer is from where the last feed came from.
  func isFromBefore(_ head: HTTPResponseHead) -> Bool {
    guard let place = head.place else { return true }
    // Some give another signature each time.
    return feed.cameFrom.map { StableAddress.text($0) == StableAddress.text(place) } ?? false
  }

  /// - Returns: why nothing is to be taken of a feed; nil where it is the podcast's.
  func refusal(of document: FetchedFeed, _ head: HTTPResponseHead, _ store: CatalogStore) throws
    -> FeedFailure?
  {
    if isFromBefore(head) { return nil }
    let isSame = try store.read { database in
      let isOthers = try head.redirects.contains {
        try PodcastRecord.other(than: id, at: WebAddress($0.location), in: database) != nil
      }
      return try SameShow(document, podcast, in: database).isRedirected(isOthers: isOthers)
    }
    return isSame ? nil : FeedFailure(anotherShow: document, head: head, of: self)
  }
}
