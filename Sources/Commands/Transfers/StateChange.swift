internal import TransferProtocol

/// What `pause`, `resume` and `cancel` have in common: a state for the episodes at some paths.
enum StateChange {
  /// Sets a state where it means something; a path named by itself is always set.
  /// - Parameter isMeant: which states of a directory's episodes are changed.
  static func run(
    _ command: any Command.Type, _ arguments: ArgumentList, to state: TransferState,
    _ isMeant: (TransferState) -> Bool
  ) throws -> Int32 {
    let paths = try arguments.operands()
    if paths.isEmpty { throw UsageError("\(command.name) takes the paths of episodes") }
    var failure: CommandFailure?
    for path in paths {
      do {
        let episodes = try MountedEpisode.all(at: path)
        for episode in episodes {
          let current = try episode.attribute("state").flatMap { TransferState(name: $0) }
          if episode.path == path || current.map(isMeant) ?? false { try episode.set(state) }
        }
      } catch let error as CommandFailure {
        // The others are done all the same.
        if let failure { StandardStreams.complain("\(failure)") }
        failure = error
      }
    }
    if let failure { throw failure }
    return 0
  }
}
