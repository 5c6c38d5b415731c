internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// `Search/QUERY/PODCAST/` and `Subscriptions/PODCAST/`: all episodes of a podcast, but for those hidden there.
struct PodcastFolder: FolderNode {
  let tree: PodcastTree
  let id: NodeID

  private func loadEpisodes() throws -> PodcastEntry {
    try tree.load(id)
    guard let podcast = podcast else { throw Errno.ENOENT }
    return try tree.loadEpisodes(ofPodcast: podcast)
  }

  private var podcast: Int64? { tree.state.withLock { $0.podcast(shownBy: id) } }

  /// Fetches the feed where that never happened, unless the caller may start nothing. Otherwise lists what is known at once
  /// and refreshes in the background where that is due.
  func listing(for caller: Caller) -> Answer<Listing> {
    let (found, due) = tree.state.withLock { state -> (Listing?, Int64?) in
      guard state.listings[id] != nil else { return (nil, nil) }
      return (state.listing(of: id), state.podcast(shownBy: id).flatMap { state.podcasts[$0]?.nextRefresh })
    }
    if let found {
      refreshIfDue(due, caller)
      return .value(found)
    }
    return Answer.on(tree.loader) { try loadEpisodes() }.then { podcast in
      if podcast.isFetched {
        refreshIfDue(podcast.nextRefresh, caller)
        return made()
      }
      if tree.isBarred(caller) {
        var empty = Listing([])
        empty.isCacheable = false
        return .value(empty)
      }
      return firstLook(podcast.id).then { made() }
    }
  }

  private func made() -> Answer<Listing> { tree.listing(of: id) { _ = try loadEpisodes() } }

  private func firstLook(_ podcast: Int64) -> Answer<Void> {
    Answer.task { completion in
      tree.catalog.refresh(podcast: podcast, cause: .firstLook) { result in
        completion(result.map { _ in }.mapError(\.errnoOfFolder))
      }
    }.then { .on(tree.loader) { tree.takeInCommits() } }
  }

  private func refreshIfDue(_ due: Int64?, _ caller: Caller) {
    guard let due, due <= wallClockSeconds(), !tree.isBarred(caller), let podcast else { return }
    _ = tree.catalog.refresh(podcast: podcast, cause: .due) { _ in }
  }

  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    // File managers look for names with a dot and for covers in every folder, which must not fetch its feed.
    if name.hasPrefix(".") { return .failure(.ENOENT) }
    guard name.hasPrefix(Sidecar.coverStem) else { return listed(name, for: caller) }
    return Answer.on(tree.loader) { try loadEpisodes() }.then { podcast in
      guard !podcast.isFetched, podcast.cover?.isOnPublicHost == true else {
        return listed(name, for: caller)
      }
      return tree.unlisted(name, ofPodcast: podcast.id, onlyHere: false)
        .recover { _ in listed(name, for: caller) }
    }
  }

  private func listed(_ name: String, for caller: Caller) -> Answer<Target> {
    listing(for: caller).then { listing in
      if let target = listing[name] { return .value(target) }
      guard let podcast else { return .failure(.ENOENT) }
      return tree.unlisted(name, ofPodcast: podcast, onlyHere: false)
    }
  }

  func extendedAttributes() -> Answer<AttributeList> {
    .on(tree.loader) {
      try tree.load(id)
      guard let podcast, let facts = try tree.catalog.podcast(podcast) else { throw Errno.ENOENT }
      let rules = id.kind == .subscription ? try tree.catalog.rules(ofPodcast: podcast) : nil
      return tree.attributeList(of: facts, in: id, rules)
    }
  }

  /// `hidden` set to 0 shows all hidden episodes again; `feed_url` is another address of the same show; all others are
  /// rules of the subscription.
  func set(_ key: String, to value: String, for caller: Caller) -> Answer<Void> {
    guard id.kind == .subscription else { return .failure(.EPERM) }
    if key == "feed_url" {
      return tree.commit { [row = id.row] in try tree.catalog.setFeedURL(value, ofSubscription: row) }
    }
    let rule = SubscriptionRules.Key(rawValue: key)
    guard key == "hidden" || rule != nil else { return .failure(.EPERM) }
    if rule == nil && value != "0" { return .failure(.EINVAL) }
    return tree.commit {
      try tree.load(id)
      guard let podcast = tree.state.withLock({ $0.podcast(shownBy: id) }) else { throw Errno.ENOENT }
      guard let rule else { return try tree.catalog.restoreHidden(podcast: podcast) }
      try tree.catalog.setRules([(rule, value)], ofPodcast: podcast)
    }
  }
}

extension PodcastTree {
  /// Finds what opens by its name but is not listed: the cover that a search named of a podcast whose
  /// feed was never fetched, and the sidecar of an episode that was just removed. `rm -r` listed that sidecar earlier, and
  /// removes it next.
  /// - Parameter onlyHere: in `Downloaded/`.
  func unlisted(_ name: String, ofPodcast podcast: Int64, onlyHere: Bool) -> Answer<Target> {
    let found = state.withLock { state -> Sidecar? in
      if let draft = state.draft(name, ofPodcast: podcast) { return draft }
      guard let entry = state.podcasts[podcast] else { return nil }
      let named =
        entry.cover?.name == name
        ? entry.cover : entry.episodes?.lazy.flatMap(\.sidecars).first { $0.name == name }
      return named.flatMap { (onlyHere ? state.isHere($0) : state.isListed($0)) ? $0 : nil }
    }
    return found.map { .value(.sidecar($0)) } ?? .failure(.ENOENT)
  }
}
