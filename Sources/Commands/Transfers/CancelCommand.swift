internal import TransferProtocol

/// `podcastfs cancel`.
enum CancelCommand: Command {
  static let name = "cancel"
  static let summary = "drop downloads"
  static let usage = """
    podcastfs cancel PATH…

    Ends downloads, of episodes or of all directly in a directory, and drops the bytes that have come.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    try StateChange.run(Self.self, arguments, to: .remote, in: .any) { $0 != .remote }
  }
}
