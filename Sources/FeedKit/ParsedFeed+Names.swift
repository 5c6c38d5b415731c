package import Identity
internal import PodcastModel

extension ParsedEpisode {
  /// The feed's date, where it has one that is not in the future. An item without one counts as published when it is
  /// first seen.
  package func publication(now: Int64) -> Int64? { published.flatMap { $0 <= now ? $0 : nil } }

  package var fileExtension: String {
    let enclosure = enclosure
    return MediaType.fileExtension(type: enclosure?.type, url: enclosure?.url ?? "")
  }

  /// What tells it from others.
  package func traits(now: Int64) -> ItemTraits {
    // White space collapsed; empty where the feed has none.
    var traits = ItemTraits(address: enclosure?.url ?? "", title: title ?? "")
    traits.guid = guid.flatMap { $0.isEmpty ? nil : $0 }
    traits.published = publication(now: now)
    return traits
  }
}

extension ParsedFeed {
  package var isSerial: Bool { type?.lowercased() == "serial" }

  /// The names of the episodes' files in a mount that sees the feed for the first time, in the feed's order.
  package func fileNames(now: Int64) -> [String] {
    var naming = EpisodeNaming(isSerial: isSerial, now: now)
    var names = episodes.map(\.fileExtension)
    for name in naming.name(episodes, isNewestFirst: naming.isNewestFirst(episodes)) {
      names[name.place] = name.stem + names[name.place]
    }
    return names
  }

  /// Without items that repeat an earlier one: a mount shows the first of them.
  func withoutRepeated(now: Int64) -> ParsedFeed {
    let matches = EpisodeMatcher.match(episodes.map { $0.traits(now: now) }, known: [])
    let count = matches.count { $0 == .duplicate }
    if count == 0 { return self }
    var feed = self
    feed.episodes = zip(episodes, matches).filter { $0.1 != .duplicate }.map(\.0)
    feed.warnings.append(
      count == 1
        ? "one item repeats an earlier one: it is left out"
        : "\(count) items repeat earlier ones: they are left out")
    return feed
  }
}
