internal import PodcastModel
internal import PosixKit

extension FeedReport {
  /// For people: the channel, a line an episode in the feed's order, then the warnings. Control characters,
  /// which could work on a terminal, are left out.
  package var text: String {
    var lines: [String] = [feed.title.map(TitleText.line) ?? "(no title)"]
    let facts: [(String, String?)] = [
      ("author", feed.author.map(TitleText.line)), ("link", feed.link?.reported),
      ("image", feed.imageURL?.reported),
      ("language", feed.language),
      ("feed", feedURL?.reported), ("moved to", feed.newFeedURL?.reported),
      ("next page", feed.nextPageURL?.reported),
    ]
    for (label, value) in facts {
      if let value { lines.append("  \(label): \(value)") }
    }
    lines.append("\(feed.episodes.count) \(feed.episodes.count == 1 ? "episode" : "episodes")")
    for (episode, name) in zip(feed.episodes, names) {
      var line = "  " + name
      var details: [String] = []
      if let duration = episode.duration { details.append(Self.clock(duration)) }
      if let length = episode.enclosure?.length { details.append(Self.size(length)) }
      if !details.isEmpty { line += "  (" + details.joined(separator: ", ") + ")" }
      lines.append(line)
    }
    lines += feed.warnings.map { "warning: " + $0 }
    return lines.map(PrintableText.line).joined(separator: "\n")
  }

  /// "1:02:03" or "2:03".
  private static func clock(_ seconds: Int) -> String {
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    let minutes = seconds / 60
    if minutes < 60 { return "\(minutes):\(two(seconds % 60))" }
    return "\(minutes / 60):\(two(minutes % 60)):\(two(seconds % 60))"
  }

  /// "28.4 MiB".
  private static func size(_ bytes: Int64) -> String {
    let tenths = bytes / 104_857 + (bytes % 104_857 > 52_428 ? 1 : 0)
    return "\(tenths / 10).\(tenths % 10) MiB"
  }
}
