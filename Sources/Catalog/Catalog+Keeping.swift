package import PodcastModel

/// What a feed's setting `keep` asks for: new episodes that are here before anybody opens them.
package struct KeepPlan: Hashable, Sendable {
  /// To be downloaded.
  package var wanted: [Episode] = []
  /// Downloaded by this setting earlier, and no longer among those to keep.
  package var released: [Episode] = []

  package init() {}
}

extension Catalog {
  /// What is to be done for a podcast; empty for one without the setting or that is not subscribed to.
  /// Changes nothing: what has been done is told by `markKept` and `unmarkKept`, so that a plan whose process
  /// dies is made again.
  package func keepPlan(podcast id: Int64) throws(CatalogError) -> KeepPlan {
    guard try store.read({ try SubscriptionRows.isSubscribed(id, in: $0) }),
      let kept = try keptEpisodes(ofPodcast: id)
    else { return KeepPlan() }
    let marked = try store.read { try KeptRows.episodes(ofPodcast: id, in: $0) }
    var plan = KeepPlan()
    plan.wanted = kept.filter { !marked.contains($0.id) }
    for released in marked.subtracting(kept.map(\.id)).sorted() {
      if let episode = try episode(released) { plan.released.append(episode) }
    }
    return plan
  }

  /// Its download was started by the setting.
  package func markKept(episode: Int64) throws(CatalogError) {
    try store.change { database, _ in try KeptRows.add(episode, in: database) }
  }

  /// The setting keeps it no longer.
  package func unmarkKept(episode: Int64) throws(CatalogError) {
    try store.change { database, _ in try KeptRows.remove(episode, in: database) }
  }
}
