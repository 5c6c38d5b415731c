internal import Glibc
internal import PosixKit
internal import TransferProtocol

/// `podcastfs get`.
enum GetCommand: Command {
  static let name = "get"
  static let summary = "download episodes and wait for them"
  static let usage = """
    podcastfs get PATH…

    Downloads episodes of a mount, or all episodes directly in a directory of it, with progress bars on a
    terminal. Ends when all are here; with status 1 when one can't be had. Interrupting it stops no download.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let paths = try arguments.operands()
    if paths.isEmpty { throw UsageError("get takes the paths of episodes") }
    let episodes = try paths.flatMap(MountedEpisode.all)
    for episode in episodes where try episode.attribute("state") != TransferState.cached.name {
      try episode.set(.downloading)
    }
    var display = Terminal.errors.isTerminal ? LiveDisplay(.errors) : nil
    while true {
      let lines = try episodes.map { try $0.progress() }
      display?.draw { columns in lines.flatMap { $0.lines(columns: columns) } }
      if !lines.contains(where: isWaitedFor) { return try outcome(episodes, lines) }
      // Attributes announce nothing: they are looked at twice a second while this command runs.
      usleep(500_000)
    }
  }

  private static func isWaitedFor(_ line: ProgressLine) -> Bool {
    line.state == .queued || line.state == .downloading
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
