internal import PosixKit
internal import TransferProtocol

enum PauseCommand: Command {
  static let usage = """
    podcastfs pause PATH…|--all

    Pauses downloads, and keeps what has been downloaded. PATH is an episode, a folder or the name of a
    subscription: all in it that run or wait. --all means all downloads.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    try EpisodeChange(to: .paused, from: [.queued, .downloading]).run(&arguments)
  }
}

enum ResumeCommand: Command {
  static let usage = """
    podcastfs resume PATH…|--all

    Resumes downloads that are paused or have failed. PATH is an episode, a folder or the name of a
    subscription: all directly in it, the newest first. --all means all downloads.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    try EpisodeChange(to: .downloading, from: [.paused, .failed]).run(&arguments)
  }
}

enum CancelCommand: Command {
  static let usage = """
    podcastfs cancel PATH…|--all

    Cancels downloads, and drops what has been downloaded. PATH is an episode, a folder or the name of a
    subscription: all directly in it. --all means all that are not complete.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    try EpisodeChange(to: .remote, from: [.queued, .downloading, .paused, .failed, .cached]).run(&arguments)
  }
}

enum MarkCommand: Command {
  static let usage = """
    podcastfs mark played|unplayed|kept|unkept PATH…

    Marks episodes as played or unplayed. The cache never evicts a kept episode; unkept removes that mark. PATH is an episode,
    or a folder or the name of a subscription: all episodes directly in it.
    """

  private static let marks = [
    "played": EpisodeChange(attribute: "played", value: "1"),
    "unplayed": EpisodeChange(attribute: "played", value: "0"),
    "kept": EpisodeChange(attribute: "keep", value: "1"),
    "unkept": EpisodeChange(attribute: "keep", value: "0"),
  ]

  static func run(_ arguments: inout ArgumentList) throws {
    let words = try arguments.paths()
    guard let mark = marks[words[0]] else {
      throw UsageError("mark takes played, unplayed, kept or unkept, and paths")
    }
    try mark.run(Array(words.dropFirst()))
  }
}

/// A new value of an attribute for episodes.
struct EpisodeChange {
  let attribute: String
  let value: String
  /// Those of a directory's episodes that are changed; nil for all. A path named by itself always is.
  var sources: Set<TransferState>?

  init(attribute: String, value: String) { (self.attribute, self.value) = (attribute, value) }

  init(to target: TransferState, from sources: Set<TransferState>) {
    (attribute, value, self.sources) = ("state", target.name, sources)
  }

  /// For paths, or with `--all` for all that `Downloading/` of a mount shows.
  func run(_ arguments: inout ArgumentList) throws {
    let isAll = arguments.takeFlag("--all", "-a")
    let paths = try arguments.paths()
    if paths.isEmpty != isAll { throw UsageError("it takes the paths of episodes, or --all") }
    if !isAll { return try run(paths) }
    let root = try UserMount.root()
    if value == TransferState.downloading.name {
      try ExtendedAttributes.set("user.podcastfs.paused", of: root, to: "0")
    }
    let folders = ["Downloading", "Downloading/Paused", "Downloading/Failed"]
    try change(
      MountedEpisode.Found(episodes: folders.flatMap { try MountedEpisode.directly(in: "\(root)/\($0)") }))
  }

  func run(_ paths: [String]) throws { try change(MountedEpisode.all(atEach: paths), named: Set(paths)) }

  /// - Parameter named: paths whose episodes are changed in any state.
  private func change(_ found: MountedEpisode.Found, named: Set<String> = []) throws {
    try found.forEachReporting { episode in
      do {
        let state = try episode.attribute("state").flatMap { TransferState(rawValue: $0) }
        let isMeant = sources.map { sources in state.map(sources.contains) ?? false } ?? true
        if isMeant || named.contains(episode.path) { try episode.set(attribute, to: value) }
      } catch {
        // A download that has ended meanwhile has left its folder.
        if named.contains(episode.path) || Directories.exists(episode.path) { throw error }
      }
    }
  }
}
