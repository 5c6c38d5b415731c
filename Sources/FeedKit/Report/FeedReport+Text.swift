internal import PodcastModel
internal import PosixKit

extension FeedReport {
  /// For people: the channel, a line an episode in the feed's order, then the warnings. Control characters,
  /// which could work on a terminal, are left out.
  package var text: String {
    var lines: [String] = [feed.title.map(TitleText.line) ?? "(no title)"]
    let facts: [(String, String?)] = [
      ("author", feed.author.map(TitleText.line)), ("link", feed.link?.reported),
      ("image", feed.imageURL?.reported), ("language", feed.language), ("feed", feedURL?.reported),
      ("moved to", feed.newFeedURL?.reported), ("next page", feed.nextPageURL?.reported),
    ]
    lines += facts.compactMap { label, value in value.map { "  \(label): \($0)" } }
    lines.append("\(feed.episodes.count) \(feed.episodes.count == 1 ? "episode" : "episodes")")
    for (episode, name) in zip(feed.episodes, names) {
      let details = [
        episode.duration.map { PositionText.clock(Int64($0) * 1000) },
        episode.enclosure?.length.map(Self.size),
      ].compactMap(\.self)
      lines.append("  " + name + (details.isEmpty ? "" : "  (\(details.joined(separator: ", ")))"))
    }
    lines += feed.warnings.map { "warning: " + $0 }
    return lines.map(PrintableText.line).joined(separator: "\n")
  }

  private static func size(_ bytes: Int64) -> String {
    let tenths = bytes / 104_857 + (bytes % 104_857 > 52_428 ? 1 : 0)
    return "\(tenths / 10).\(tenths % 10) MiB"
  }
}
