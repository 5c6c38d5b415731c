internal import TransferProtocol

/// `podcastfs resume`.
enum ResumeCommand: Command {
  static let name = "resume"
  static let summary = "resume downloads"
  static let usage = """
    podcastfs resume PATH…

    Goes on with downloads that are paused or failed, of episodes or of all directly in a directory.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    try StateChange.run(Self.self, arguments, to: .downloading, in: .newestFirst) {
      $0 == .paused || $0 == .failed
    }
  }
}
