internal import FeedKit
internal import HTTPKit
internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A feed that an address has led to by redirects. An owner may send all that he has ended to another show of his, a domain
/// that is for sale or the page of a hotel's network to anything: before anything of it is taken it must prove to be the
/// podcast's, by what was known before.
struct RedirectedFeed: Sendable {
  let feed: FetchedFeed
  let head: HTTPResponseHead
  /// Of the podcast, before this answer.
  let state: FeedState
  let store: CatalogStore
  let now: Int64

  /// Whether what has come is from where the last feed came from.
  static func isFromBefore(_ head: HTTPResponseHead, _ state: FeedState) -> Bool {
    if head.redirects.isEmpty { return true }
    guard let before = state.cameFrom else { return false }
    // Some give another signature each time.
    return StableAddress.text(before) == StableAddress.text(WebAddress(head.effectiveURL))
  }

  /// Whether "not modified" is about what the podcast's validators are of: where it comes from elsewhere, a date or a short
  /// tag is anybody's.
  static func isAboutSame(notModified head: HTTPResponseHead, _ state: FeedState) -> Bool {
    if isFromBefore(head, state) { return true }
    guard let tag = head.strongETag, tag == state.etag else { return false }
    return tag.utf8.count >= longTag
  }

  /// Bytes of a tag that nobody else has by chance, its quotes included.
  private static let longTag = 18

  /// - Returns: why nothing is to be taken of it; nil where it is the podcast's.
  func refusal() throws -> FeedFailure? {
    if Self.isFromBefore(head, state) { return nil }
    let isSame = try state.lastRefresh == nil ? mayBegin() : isPodcasts()
    return isSame ? nil : FeedFailure(anotherShow: feed, head: head, state: state)
  }

  /// For a further page of an archive, which has no episode that is known: whether it may be the podcast's.
  func refusalOfPage() throws -> FeedFailure? {
    if head.redirects.isEmpty { return nil }
    let evidence = try evidence(and: nil)
    let isSame = evidence.titles != .others || evidence.hasSameGuid || evidence.episodes.distinct > 0
    return isSame ? nil : FeedFailure(anotherShow: feed, head: head, state: state)
  }

  /// Nothing is known of the podcast but what a list or a directory said: it must not become another one's twin that is
  /// called otherwise.
  private func mayBegin() throws -> Bool {
    guard state.isFollowed, state.hasTitle, feed.title != nil, try other() != nil else { return true }
    return ShowEvidence.Titles(state.title, feed.title) != .others
  }

  private func isPodcasts() throws -> Bool {
    let other = try other()
    let evidence = try evidence(and: other)
    if evidence.episodes.other == 0 && !state.hasTitle { return true }
    // Two that are followed, and perhaps called the same, are two until their episodes tell that they are one.
    if other != nil, evidence.episodes.other > 0 { return evidence.isEnough }
    return evidence.isEnoughForRedirect
  }

  /// Another podcast of the catalogue that is where this answer comes from.
  private func other() throws -> Int64? {
    let addresses = head.redirects.map { WebAddress($0.location) } + [WebAddress(head.effectiveURL)]
    return try store.read { database in
      for address in addresses {
        if let other = try PodcastRow.other(than: state.id, at: address, in: database) { return other }
      }
      return nil
    }
  }

  private func evidence(and other: Int64?) throws -> ShowEvidence {
    let merge = FeedMerge(store: store, podcast: state.id, now: now)
    var evidence = ShowEvidence(
      episodes: try merge.overlap(feed.episodes),
      titles: ShowEvidence.Titles(state.hasTitle ? state.title : nil, feed.title))
    if let guid = feed.guid, let own = state.guid {
      evidence.hasOtherGuid = guid != own
      evidence.hasSameGuid =
        try guid == own
        && store.read {
          try PodcastRow.isGuid(guid, ofNoneBut: [state.id, other ?? state.id], in: $0)
        }
    }
    return evidence
  }
}

extension FeedFailure {
  /// The address leads to another podcast's feed: of a captive network, or for good.
  init(anotherShow feed: FetchedFeed, head: HTTPResponseHead, state: FeedState) {
    let host = state.feedURL.host ?? "the server"
    let target = WebAddress(head.effectiveURL).host
    let place = target == host ? "" : target.map { " on \($0)" } ?? ""
    let title =
      feed.title.map { "“\(TitleText.line($0).prefix(Self.longestTitle))”" } ?? "one without a title"
    self.init(
      CatalogError(
        .EPROTO,
        "\(host) leads to another podcast, \(title)\(place): nothing is taken from there; "
          + "subscribe to that one if it is meant"))
    isAnotherShow = true
    mayBeTheNetworks = true
  }

  private static let longestTitle = 80
}
