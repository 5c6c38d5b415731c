internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// What getfattr shows, and what setfattr does.
extension PodcastTree {
  /// - Returns: ENODATA where it has none of that name, EOPNOTSUPP outside `user.`.
  package func extendedAttribute(_ name: String, of node: NodeID, for caller: Caller) -> Answer<[UInt8]> {
    guard name.hasPrefix("user.") else { return .failure(.EOPNOTSUPP) }
    // Show notes lie in the catalogue: only what is made of them is worth the way.
    let list =
      node.kind == .episode && !Self.madeOfNotes.contains(name)
      ? entry(ofEpisode: node.row).map { self.attributeList(of: $0) }
      : extendedAttributes(of: node, for: caller)
    return list.then { list in
      list.value(name).map { .value(Array($0.utf8)) } ?? .failure(.ENODATA)
    }
  }

  private static let madeOfNotes: Set<String> = ["user.xdg.comment", "user.dublincore.description"]

  /// The names, each followed by a NUL, as listxattr(2) gives them.
  package func extendedAttributeNames(of node: NodeID, for caller: Caller) -> Answer<[UInt8]> {
    extendedAttributes(of: node, for: caller).map { list in list.items.flatMap { Array($0.name.utf8) + [0] } }
  }

  private func extendedAttributes(of node: NodeID, for caller: Caller) -> Answer<AttributeList> {
    switch node.kind {
    case .fixed: return .value(node == .root ? rootAttributes() : AttributeList())
    case .search:
      let search = state.withLock { $0.searches.first { $0.id == node.row } }
      return search.map { .value(self.attributeList(of: $0)) } ?? .failure(.ENOENT)
    case .result, .subscription, .downloadedPodcast:
      return podcast(shownBy: node).map { self.attributeList(of: $0, in: node) }
    case .episode:
      return entry(ofEpisode: node.row).then { self.withNotes($0) }.map { self.attributeList(of: $0) }
    default: return .value(AttributeList())
    }
  }

  private func rootAttributes() -> AttributeList {
    let statuses = transfers.allStatuses()
    var list = AttributeList()
    list.add("version", podcastfsVersion)
    list.add("cache_bytes", String(statuses.reduce(0) { $0 + $1.received }))
    list.add("cache_limit", String(settings.cacheSize))
    list.add("active", String(statuses.count { $0.state == .downloading }))
    list.add("queued", String(statuses.count { $0.state == .queued }))
    return list
  }

  private func attributeList(of search: Search) -> AttributeList {
    var list = AttributeList()
    list.add("query", search.name)
    list.add("result_count", String(state.withLock { $0.results[search.id]?.count } ?? search.resultCount))
    list.add("source", search.source)
    list.add("searched", CivilTime.iso8601(search.searched))
    return list.bounded()
  }

  private func attributeList(of podcast: Podcast, in node: NodeID) -> AttributeList {
    var list = AttributeList()
    list.add("feed_url", podcast.feedURL.shown(isListed: podcast.isListed))
    list.add("title", podcast.title)
    list.add("author", podcast.author)
    list.add("link", podcast.link?.shown(isListed: podcast.isListed))
    list.add("language", podcast.language)
    list.add("categories", podcast.categories.isEmpty ? nil : podcast.categories.joined(separator: ", "))
    list.add("image_url", podcast.imageURL?.shown(isListed: podcast.isListed))
    list.add("episode_count", String(podcast.episodeCount))
    list.add("cached_count", String(state.withLock { $0.downloaded[podcast.id]?.count ?? 0 }))
    list.add("last_refresh", podcast.lastRefresh.map(CivilTime.iso8601))
    list.add("next_refresh", podcast.nextRefresh.map(CivilTime.iso8601))
    list.add("error", podcast.error)
    if node.kind == .subscription {
      let entry = state.withLock { $0.subscriptions.first { $0.id == node.row } }
      list.add("hidden", String(entry?.hiddenCount ?? 0))
    }
    list.add("description", podcast.description.map(PlainText.oneLine))
    return list.bounded()
  }

  /// Listings are kept without show notes: they come from the catalogue when they are asked for.
  private func withNotes(_ entry: EpisodeEntry) -> Answer<EpisodeEntry> {
    if entry.episode.notes != nil { return .value(entry) }
    let recent = notes.withLock { $0 }
    if let recent, recent.id == entry.episode.id {
      var entry = entry
      entry.episode.notes = recent.text
      return .value(entry)
    }
    return .on(loader) { [entry] in
      var entry = entry
      entry.episode.notes = try self.catalog.episode(entry.episode.id)?.notes
      self.notes.withLock { [entry] in $0 = (entry.episode.id, entry.episode.notes) }
      return entry
    }
  }

  // MARK: setfattr

  package func setExtendedAttribute(
    _ name: String, to value: [UInt8], of node: NodeID, for caller: Caller
  ) -> Answer<Void> {
    guard name.hasPrefix("user.") else { return .failure(.EOPNOTSUPP) }
    guard owner.admits(caller) else { return .failure(.EACCES) }
    guard name.hasPrefix(AttributeList.prefix) else { return .failure(.EPERM) }
    let key = String(name.dropFirst(AttributeList.prefix.count))
    let text = String(decoding: value, as: UTF8.self)
    switch (node.kind, key) {
    case (.episode, "state"): return entry(ofEpisode: node.row).then { self.setState(text, of: $0) }
    case (.episode, "played"), (.episode, "keep"):
      guard text == "0" || text == "1" else { return .failure(.EINVAL) }
      return entry(ofEpisode: node.row).then { entry in
        key == "played" ? self.setPlayed(text == "1", entry) : self.setKept(text == "1", entry)
      }
    case (.subscription, "hidden"):
      guard text == "0", let podcast = podcastID(shownBy: node) else { return .failure(.EINVAL) }
      return .on(loader) {
        try self.catalog.restoreHidden(podcast: podcast)
        try self.podcastChanged(podcast)
        try self.subscriptionsChanged()
      }
    default: return .failure(.EPERM)
    }
  }

  private func setState(_ text: String, of entry: EpisodeEntry) -> Answer<Void> {
    let key = entry.episode.mediaKey
    let order: (@Sendable (@escaping OrderCompletion) -> any Cancellable)? =
      switch TransferState(name: text) {
      case .downloading: { self.transfers.start(self.request(for: entry), completion: $0) }
      case .paused: { self.transfers.pause(self.request(for: entry), completion: $0) }
      case .remote: { self.transfers.drop(key, completion: $0) }
      default: nil
      }
    guard let order else { return .failure(.EINVAL) }
    return Answer<Void>.order(order).then { .on(self.loader) { self.transferChanged(key) } }
  }

  private func setPlayed(_ played: Bool, _ entry: EpisodeEntry) -> Answer<Void> {
    .on(loader) {
      try self.catalog.setPlayed(played, episode: entry.episode.id)
      try self.podcastChanged(entry.podcast.id)
    }
  }

  private func setKept(_ kept: Bool, _ entry: EpisodeEntry) -> Answer<Void> {
    .order { self.transfers.setKept(self.request(for: entry), kept, completion: $0) }
  }

  /// Ours are computed: none can be removed.
  package func removeExtendedAttribute(
    _ name: String, of node: NodeID, for caller: Caller
  ) -> Answer<Void> {
    guard name.hasPrefix("user.") else { return .failure(.EOPNOTSUPP) }
    return extendedAttribute(name, of: node, for: caller).then { _ in .failure(.EPERM) }
  }
}
