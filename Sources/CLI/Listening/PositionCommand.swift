internal import PodcastModel
internal import PosixKit

enum PositionCommand: Command {
  static let name = "position"
  static let summary = "show or set how far you are in an episode"
  static let usage = """
    podcastfs position [--json] FILE [TIME]

    Shows or sets the position in an episode. TIME is in seconds (751.2) or as a clock shows it (12:31, 1:02:03); 0 removes the
    position. A position near the end marks the episode as played.

      --json   {"position", "played", "last_played", "duration"}; times in seconds, null for what is unknown
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let operands = try arguments.operands(1...2, "position takes an episode, and a time to set")
    guard let episode = try MountedEpisode.all(at: operands[0]).first, episode.path == operands[0] else {
      throw CommandFailure("\(operands[0]): a directory; position takes an episode")
    }
    if operands.count == 2 {
      guard PositionText.milliseconds(operands[1]) != nil else {
        throw UsageError("\(PrintableText.line(operands[1])) is not a time: 751.2, 12:31 or 1:02:03")
      }
      try episode.set("position", to: operands[1])
    }
    if isJSON {
      StandardStreams.print(try json(episode).indentedText)
    } else if operands.count == 1 {
      let position = try episode.attribute("position") ?? "0"
      let milliseconds = PositionText.milliseconds(position) ?? 0
      StandardStreams.print(Terminal.output.isTerminal ? PositionText.clock(milliseconds) : position)
    }
    return 0
  }

  private static func json(_ episode: MountedEpisode) throws -> JSONValue {
    .members([
      "position": Double(try episode.attribute("position") ?? "0") ?? 0,
      "played": try episode.attribute("played") == "1", "last_played": try episode.attribute("last_played"),
      "duration": try episode.attribute("duration").flatMap { Int64($0) },
    ])
  }
}
