internal import Configuration
internal import MountService
internal import PosixKit
internal import TransferProtocol

/// `podcastfs pause`.
enum PauseCommand: Command {
  static let name = "pause"
  static let summary = "pause downloads"
  static let usage = """
    podcastfs pause PATH…|--all

    Pauses downloads: of episodes, of all that run or wait directly in a directory, or (--all) of all there are. What
    has been downloaded is kept.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    try StateChange(to: .paused, from: [.queued, .downloading]).run(Self.self, arguments)
  }
}

/// `podcastfs resume`.
enum ResumeCommand: Command {
  static let name = "resume"
  static let summary = "resume downloads"
  static let usage = """
    podcastfs resume PATH…|--all

    Resumes downloads that are paused or failed: of episodes, of all directly in a directory, the newest first, or
    (--all) of all there are.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    try StateChange(to: .downloading, from: [.paused, .failed], isInOrder: true).run(Self.self, arguments)
  }
}

/// `podcastfs cancel`.
enum CancelCommand: Command {
  static let name = "cancel"
  static let summary = "drop downloads"
  static let usage = """
    podcastfs cancel PATH…|--all

    Drops downloads, and what has been downloaded of them: of episodes, of all directly in a directory, or (--all) of
    all that are not complete.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let states: Set<TransferState> = [.queued, .downloading, .paused, .failed, .cached]
    return try StateChange(to: .remote, from: states).run(Self.self, arguments)
  }
}

/// A state for the episodes at some paths.
private struct StateChange {
  let target: TransferState
  /// Those of a directory's episodes that are changed; a path named by itself always is.
  let sources: Set<TransferState>
  /// Whether the episodes of a directory are to come one after the other, the newest first.
  let isInOrder: Bool

  init(to target: TransferState, from sources: Set<TransferState>, isInOrder: Bool = false) {
    (self.target, self.sources, self.isInOrder) = (target, sources, isInOrder)
  }

  func run(_ command: any Command.Type, _ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isAll = arguments.takeFlag("--all", "-a")
    let paths = try arguments.operands()
    if paths.isEmpty != isAll { throw UsageError("\(command.name) takes the paths of episodes, or --all") }
    let operands = isAll ? try Self.all() : MountedEpisode.all(atEach: paths)
    let named = Set(paths)
    let failures =
      operands.failures.map(\.failure)
      + change(operands.episodes, atOnce: isInOrder ? 1 : Self.atOnce) { [sources, target] episode in
        let current = try episode.attribute("state").flatMap { TransferState(rawValue: $0) }
        let isMeant = named.contains(episode.path) || current.map(sources.contains) ?? false
        if isMeant { try episode.set(target) }
      }
    guard let last = failures.last else { return 0 }
    for failure in failures.dropLast() { StandardStreams.complain("\(failure)") }
    throw last
  }

  /// What `Downloading/` of a mount of the user shows: all of them show the same.
  private static func all() throws -> MountedEpisode.Operands {
    guard let root = MountServer.mountPoints(places: try Places()).first else {
      throw CommandFailure("nothing is mounted: podcastfs mount")
    }
    let folders = ["Downloading", "Downloading/Paused", "Downloading/Failed"].map { "\(root)/\($0)" }
    var found = MountedEpisode.Operands()
    for folder in folders { found.episodes += try MountedEpisode.directly(in: folder) }
    return found
  }

  /// An order waits for the disk, not for a processor: those that come together are remembered together.
  private static let atOnce = 16

  /// Changes episodes, some at once; where one can't be changed the others are all the same.
  private func change(
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
