internal import PosixKit
internal import TransferProtocol

/// What `pause`, `resume` and `cancel` have in common: a state for the episodes at some paths.
enum StateChange {
  /// In which order the episodes of a directory are steered.
  enum Order {
    /// The newest first: as they are to come.
    case newestFirst
    /// Many at once: it makes no difference.
    case any
  }

  /// Sets a state where it means something; a path named by itself is always set.
  /// - Parameter isMeant: which states of a directory's episodes are changed.
  static func run(
    _ command: any Command.Type, _ arguments: ArgumentList, to state: TransferState, in order: Order,
    _ isMeant: @escaping @Sendable (TransferState) -> Bool
  ) throws -> Int32 {
    let paths = try arguments.operands()
    if paths.isEmpty { throw UsageError("\(command.name) takes the paths of episodes") }
    let operands = MountedEpisode.all(atEach: paths)
    let named = Set(paths)
    let failures =
      operands.failures.map(\.failure)
      + change(operands.episodes, atOnce: order == .any ? atOnce : 1) { episode in
        let current = try episode.attribute("state").flatMap { TransferState(name: $0) }
        if named.contains(episode.path) || current.map(isMeant) ?? false { try episode.set(state) }
      }
    guard let last = failures.last else { return 0 }
    for failure in failures.dropLast() { StandardStreams.complain("\(failure)") }
    throw last
  }

  /// An order waits for the disk, not for a processor: those that come together are remembered together.
  private static let atOnce = 16

  /// Changes episodes, some at once; where one can't be changed the others are all the same.
  private static func change(
    _ episodes: [MountedEpisode], atOnce: Int, _ body: @escaping @Sendable (MountedEpisode) throws -> Void
  ) -> [CommandFailure] {
    let progress = Monitor((next: 0, running: 0, failures: [CommandFailure]()))
    let work = { @Sendable in
      while true {
        let episode = progress.withLock { progress -> MountedEpisode? in
          guard progress.next < episodes.count else { return nil }
          defer { progress.next += 1 }
          return episodes[progress.next]
        }
        guard let episode else { return }
        do { try body(episode) } catch {
          let failure = error as? CommandFailure ?? CommandFailure("\(episode.path): \(error)")
          progress.withLock { $0.failures.append(failure) }
        }
      }
    }
    for _ in 1..<max(min(atOnce, episodes.count), 1) {
      progress.withLock { $0.running += 1 }
      let isStarted = PosixThread.attempt("orders", stackSize: 128 * 1024) {
        work()
        progress.withLockNotifying { $0.running -= 1 }
      }
      if !isStarted { progress.withLock { $0.running -= 1 } }
    }
    work()
    return progress.wait { $0.running == 0 ? $0.failures : nil } ?? []
  }
}
