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

  /// Leaves out what stands in the feed again: it is one file.
  mutating func leaveOutRepeats() {
    var known: Set<[String]> = []
    episodes.removeAll { episode in
      let title = episode.guid == nil ? episode.title ?? "" : ""
      return !known.insert([episode.guid ?? "", title, episode.enclosure?.url.forRequest ?? ""]).inserted
    }
  }

  /// The names of the episodes' files in a mount that sees the feed for the first time, in the feed's order.
  package func fileNames(now: Int64) -> [String] {
    let items = episodes.map { $0.namedItem(now: now) }
    var naming = EpisodeNaming(isSerial: isSerial, now: now)
    var names = [String](repeating: "", count: episodes.count)
    for name in naming.name(items, isNewestFirst: EpisodeNaming.isNewestFirst(items)) {
      names[name.place] = name.stem + episodes[name.place].fileExtension
    }
    return names
  }
}
