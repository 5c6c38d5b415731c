package import PodcastModel

extension ParsedEpisode {
  /// The feed's date, where it has one that is not in the future. An item without one counts as published when it is
  /// first seen.
  package func publication(now: Int64) -> Int64? { published.flatMap { $0 <= now ? $0 : nil } }

  /// With its dot.
  package var fileExtension: String {
    MediaType.fileExtension(type: enclosure?.type, url: enclosure?.url ?? "")
  }

  /// What its name is made of.
  package func namedItem(now: Int64) -> EpisodeNaming.Item {
    EpisodeNaming.Item(
      title: title ?? "", address: enclosure?.url ?? "", published: publication(now: now), season: season,
      number: episode)
  }
}

extension ParsedFeed {
  /// Whether its episodes are to be heard in order.
  package var isSerial: Bool { type?.lowercased() == "serial" }

  /// The names of the episodes' files in a mount that sees the feed for the first time, in the feed's order. An item that
  /// stands in the feed several times is one file.
  package func fileNames(now: Int64) -> [String] {
    var firsts: [[String]: Int] = [:]
    let first = episodes.indices.map { place -> Int in
      let episode = episodes[place]
      let key = [
        episode.guid ?? "", episode.guid == nil ? episode.title ?? "" : "",
        episode.enclosure?.url.forRequest ?? "",
      ]
      if let known = firsts[key] { return known }
      firsts[key] = place
      return place
    }
    let places = episodes.indices.filter { first[$0] == $0 }
    let items = places.map { episodes[$0].namedItem(now: now) }
    var naming = EpisodeNaming(isSerial: isSerial, now: now)
    var stems = [String](repeating: "", count: episodes.count)
    for name in naming.name(items, isNewestFirst: EpisodeNaming.isNewestFirst(items)) {
      stems[places[name.place]] = name.stem
    }
    return episodes.indices.map { stems[first[$0]] + episodes[first[$0]].fileExtension }
  }
}
