internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// `podcastfs get`.
enum GetCommand: Command {
  static let name = "get"
  static let summary = "download episodes and wait for them"
  static let usage = """
    podcastfs get [--json] [--quiet] PATH…

    Downloads episodes of a mount, or all episodes directly in a directory of it, the newest first: with progress
    bars on a terminal, else with a line for each that is here. Ends when all are; with status 1 when one can't be
    had. Interrupting it stops no download.

      --json   [{"path", "state", "bytes_received", "bytes_total", "error"}], when it ends
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isJSON = arguments.takeFlag("--json")
    let paths = try arguments.operands()
    if paths.isEmpty { throw UsageError("get takes the paths of episodes") }
    let episodes = try paths.flatMap(MountedEpisode.all)
    Interruption.say("the downloads go on: podcastfs status shows them, podcastfs cancel ends them")
    for episode in episodes where try episode.attribute("state") != TransferState.cached.name {
      try episode.set(.downloading)
    }
    let isShown = !isJSON && !StandardStreams.isQuiet
    var display = isShown && Terminal.errors.isTerminal ? LiveDisplay(.errors) : nil
    var told: Set<Int> = []
    while true {
      let lines = try episodes.map { try $0.progress() }
      display?.draw { columns in lines.flatMap { $0.lines(columns: columns) } }
      if isShown && display == nil {
        for (index, line) in lines.enumerated() where line.state == .cached && told.insert(index).inserted {
          StandardStreams.report(line.text)
        }
      }
      if !lines.contains(where: isWaitedFor) {
        if isJSON { StandardStreams.print(json(episodes, lines).indentedText) }
        return try outcome(episodes, lines)
      }
      // Attributes announce nothing: they are looked at twice a second while this command runs.
      usleep(500_000)
    }
  }

  private static func isWaitedFor(_ line: ProgressLine) -> Bool {
    line.state == .queued || line.state == .downloading
  }

  private static func json(_ episodes: [MountedEpisode], _ lines: [ProgressLine]) -> JSONValue {
    .array(
      zip(episodes, lines).map { episode, line in
        .object([
          ("path", .string(episode.path)), ("state", .string(line.state.name)),
          ("bytes_received", .integer(line.received)), ("bytes_total", .optional(line.total)),
          ("error", .optional(line.error)),
        ])
      })
  }

  private static func outcome(_ episodes: [MountedEpisode], _ lines: [ProgressLine]) throws -> Int32 {
    let failures = zip(episodes, lines).filter { $0.1.state != .cached }.map { episode, line in
      "\(episode.path): " + (line.error ?? word(line.state))
    }
    guard let last = failures.last else { return 0 }
    for failure in failures.dropLast() { StandardStreams.complain(failure) }
    throw CommandFailure(last)
  }

  private static func word(_ state: TransferState) -> String {
    switch state {
    case .paused: "it was paused"
    case .remote: "it was cancelled"
    default: "it is \(state.name)"
    }
  }
}
