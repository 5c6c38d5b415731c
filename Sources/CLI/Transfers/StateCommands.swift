internal import Configuration
internal import MountService
internal import PosixKit
internal import TransferProtocol

enum PauseCommand: Command {
  static let name = "pause"
  static let summary = "pause downloads"
  static let usage = """
    podcastfs pause PATH…|--all

    Pauses downloads, and keeps what has been downloaded. PATH is an episode, a folder or the name of a
    subscription: all in it that run or wait. --all means all downloads.
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    try EpisodeChange(to: .paused, from: [.queued, .downloading]).run(Self.self, &arguments)
  }
}

enum ResumeCommand: Command {
  static let name = "resume"
  static let summary = "resume downloads"
  static let usage = """
    podcastfs resume PATH…|--all

    Resumes downloads that are paused or have failed. PATH is an episode, a folder or the name of a
    subscription: all directly in it, the newest first. --all means all downloads.
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    try EpisodeChange(to: .downloading, from: [.paused, .failed], isInOrder: true).run(Self.self, &arguments)
  }
}

enum CancelCommand: Command {
  static let name = "cancel"
  static let summary = "drop downloads"
  static let usage = """
    podcastfs cancel PATH…|--all

    Cancels downloads, and drops what has been downloaded. PATH is an episode, a folder or the name of a
    subscription: all directly in it. --all means all that are not complete.
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let states: Set<TransferState> = [.queued, .downloading, .paused, .failed, .cached]
    return try EpisodeChange(to: .remote, from: states).run(Self.self, &arguments)
  }
}

/// A new value of an attribute for the episodes at some paths.
struct EpisodeChange {
  let attribute: String
  let value: String
  /// Those of a directory's episodes that are changed; nil for all. A path named by itself always is.
  let sources: Set<TransferState>?
  /// Whether the episodes of a directory are to come one after the other, the newest first.
  let isInOrder: Bool

  init(_ attribute: String, _ value: String) {
    (self.attribute, self.value, sources, isInOrder) = (attribute, value, nil, false)
  }

  init(to target: TransferState, from sources: Set<TransferState>, isInOrder: Bool = false) {
    (attribute, value, self.sources, self.isInOrder) = ("state", target.name, sources, isInOrder)
  }

  func run(_ command: any Command.Type, _ arguments: inout ArgumentList) throws -> Int32 {
    let isAll = arguments.takeFlag("--all", "-a")
    let paths = try arguments.paths()
    if paths.isEmpty != isAll { throw UsageError("\(command.name) takes the paths of episodes, or --all") }
    if !isAll { return try run(paths) }
    if value == TransferState.downloading.name {
      try ExtendedAttributes.set("user.podcastfs.paused", of: UserMount.root(), to: "0")
    }
    // What `Downloading/` of a mount of the user shows: all of them show the same.
    let root = try UserMount.root()
    let folders = ["Downloading", "Downloading/Paused", "Downloading/Failed"].map { "\(root)/\($0)" }
    return try end(change(try folders.flatMap { try MountedEpisode.directly(in: $0) }, named: []))
  }

  func run(_ paths: [String]) throws -> Int32 {
    let operands = MountedEpisode.all(atEach: paths)
    return try end(operands.failures.map(\.failure) + change(operands.episodes, named: Set(paths)))
  }

  private func end(_ failures: [CommandFailure]) throws -> Int32 {
    for failure in failures.dropLast() { StandardStreams.complain("\(failure)") }
    if let last = failures.last { throw last }
    return 0
  }

  /// Changes episodes. A failure of one does not keep the others from being changed. Orders at the same time share a commit.
  /// - Parameter named: paths whose episodes are changed in any state.
  private func change(_ episodes: [MountedEpisode], named: Set<String>) -> [CommandFailure] {
    var failures: [CommandFailure] = []
    Waiting.each(episodes, atOnce: isInOrder ? 1 : 16) { [self] episode -> CommandFailure? in
      do {
        let state = try episode.attribute("state").flatMap { TransferState(rawValue: $0) }
        let isMeant = sources.map { sources in state.map(sources.contains) ?? false } ?? true
        if isMeant || named.contains(episode.path) { try episode.set(attribute, to: value) }
        return nil
      } catch {
        // A download that has ended meanwhile has left its folder.
        if !named.contains(episode.path), !Directories.exists(episode.path) { return nil }
        return error as? CommandFailure ?? CommandFailure("\(episode.path): \(error)")
      }
    } ended: { _, failure in
      failures += [failure].compactMap(\.self)
    }
    return failures
  }
}
