internal import PodcastModel
internal import PosixKit

enum PositionCommand: Command {
  static let usage = """
    podcastfs position [--json] FILE [TIME]

    Shows or sets the position in an episode. TIME is in seconds (751.2) or as a clock shows it (12:31, 1:02:03); 0 removes the
    position. A position near the end marks the episode as played.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let operands = try arguments.operands()
    guard let episode = try MountedEpisode.all(at: operands[0]).first, episode.path == operands[0] else {
      throw CommandFailure("\(operands[0]): a directory; position takes an episode")
    }
    if operands.count == 2 {
      guard PositionText.milliseconds(operands[1]) != nil else {
        throw UsageError("\(PrintableText.line(operands[1])) is not a time: 751.2, 12:31 or 1:02:03")
      }
      try episode.set("position", to: operands[1])
    }
    let position = try episode.attribute("position") ?? "0"
    try StandardStreams.show(
      .members([
        "position": Double(position) ?? 0, "played": try episode.attribute("played") == "1",
        "last_played": try episode.attribute("last_played"),
        "duration": try episode.attribute("duration").flatMap { Int64($0) },
      ])
    ) {
      if operands.count == 2 { return }
      let clock = PositionText.clock(PositionText.milliseconds(position) ?? 0)
      StandardStreams.print(Terminal.output.isTerminal ? clock : position)
    }
  }
}
