internal import TransferProtocol

/// `podcastfs pause`.
enum PauseCommand: Command {
  static let name = "pause"
  static let summary = "pause downloads"
  static let usage = """
    podcastfs pause PATH…

    Holds downloads, of episodes or of all under way directly in a directory, with the bytes that have come.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    try StateChange.run(Self.self, arguments, to: .paused, in: .any) { $0 == .queued || $0 == .downloading }
  }
}
