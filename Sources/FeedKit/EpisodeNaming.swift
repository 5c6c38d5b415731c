package import PodcastModel

/// What the items of a feed are called when they are seen for the first time: the one place for
/// it, for the catalogue and for `podcastfs feed`.
package enum EpisodeNaming {
  /// The places of the items in the order in which they are named and numbered: of publication, so that names
  /// don't depend on the order of the feed; of those published at the same time in the feed's.
  package static func order(_ items: [ParsedEpisode], now: Int64) -> [Int] {
    items.indices.sorted { first, second in
      (items[first].publication(now: now) ?? now, items[first].index)
        < (items[second].publication(now: now) ?? now, items[second].index)
    }
  }

  /// A name without extension that is not taken yet.
  package static func stem(of item: ParsedEpisode, now: Int64, _ names: inout UniqueNames) -> String {
    let title = item.title.flatMap { $0.isEmpty ? nil : $0 }
    return names.claim(EpisodeName.stem(published: item.publication(now: now) ?? now, title: title))
  }
}

extension ParsedEpisode {
  /// The feed's date, where it has one that is not in the future; what has none counts as published when it is
  /// first seen.
  package func publication(now: Int64) -> Int64? { published.flatMap { $0 <= now ? $0 : nil } }

  /// With its dot.
  package var fileExtension: String {
    MediaType.fileExtension(type: enclosure?.type, url: enclosure?.url ?? "")
  }
}

extension ParsedFeed {
  /// The names of the episodes' files in a mount that sees the feed for the first time, in the feed's order.
  package func fileNames(now: Int64) -> [String] {
    var names = UniqueNames()
    var stems = [String](repeating: "", count: episodes.count)
    for place in EpisodeNaming.order(episodes, now: now) {
      stems[place] = EpisodeNaming.stem(of: episodes[place], now: now, &names)
    }
    return zip(stems, episodes).map { $0 + $1.fileExtension }
  }
}
