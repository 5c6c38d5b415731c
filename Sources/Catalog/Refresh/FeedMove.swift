internal import FeedKit
internal import PodcastModel
internal import SQLiteKit

/// A feed that says it has moved, by permanent redirects or by `itunes:new-feed-url`. Many say so by mistake
/// or for an hour: it is believed when it has said the same at two refreshes.
struct FeedMove: Sendable {
  private enum Decision: Hashable, Sendable {
    case none
    /// Said for the first time, or since too short a time.
    case remember(WebAddress)
    /// Said twice; what came did come from there.
    case follow(WebAddress)
    /// Said twice by the feed alone: what is there must prove to be the same podcast.
    case tryOut(WebAddress)
  }

  private let state: FeedState
  private let now: Int64
  private let decision: Decision
  private let isAnnounced: Bool

  /// Seconds until an address that was not the podcast's is tried again.
  static let patience: Int64 = 7 * 24 * 3600

  /// - Parameters:
  ///   - announced: by the feed itself.
  ///   - redirected: the end of the permanent redirects that led to the answer.
  init(state: FeedState, announced: WebAddress?, redirected: WebAddress?, now: Int64) {
    self.state = state
    self.now = now
    let redirected = redirected.flatMap { Self.candidate($0, from: state) }
    // Feeds that announce each other do not go to and fro.
    let announced = announced.flatMap { Self.candidate($0, from: state) }.flatMap { address in
      state.keys.dropFirst().contains(FeedKey.text(address)) ? nil : address
    }
    isAnnounced = redirected == nil
    guard let address = redirected ?? announced else {
      decision = .none
      return
    }
    let isSecond = state.movedTo == address && (state.movedSince ?? .max) <= now
    decision = !isSecond ? .remember(address) : redirected != nil ? .follow(address) : .tryOut(address)
  }

  /// Where `FeedTrial` looks for the same podcast when `note` has been committed.
  var trial: WebAddress? {
    if case .tryOut(let address) = decision { return address }
    return nil
  }

  /// Call inside the transaction that stores the answer.
  func note(in database: Database, _ changes: inout [CatalogChange]) throws {
    switch decision {
    case .none:
      if state.movedTo != nil { try MoveRows.remember(nil, since: nil, of: state.id, in: database) }
    case .remember(let address):
      if address == state.movedTo {
        _ = try MoveRows.isOfFollowed(address, besides: state.id, in: database)
        return
      }
      try MoveRows.remember(address, since: now, isAnnounced: isAnnounced, of: state.id, in: database)
    case .follow(let address):
      try MoveRows.follow(address, state.id, in: database, &changes)
    case .tryOut: break
    }
  }

  /// Where a feed may move to, with its credentials where the host stays: never from https to http, from a
  /// public host to one that is private by its name, or to where it is.
  static func candidate(_ text: WebAddress, from state: FeedState) -> WebAddress? {
    guard
      let address = SubscriptionAddress.normalized(text.forRequest).map({
        FeedCredentials.lent(by: state.feedURL, to: $0)
      }), address != state.feedURL, let host = address.host
    else { return nil }
    if state.feedURL.scheme == "https" && address.scheme != "https" { return nil }
    if PrivateHostName.isPrivate(host) && !state.isPrivate && !state.mayBePrivate { return nil }
    return address
  }
}
