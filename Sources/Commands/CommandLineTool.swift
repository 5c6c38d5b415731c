internal import Configuration

/// `podcastfs`: finds the command and runs it.
package enum CommandLineTool {
  /// In the order of `podcastfs help`.
  package static var commands: [any Command.Type] {
    [
      MountCommand.self, UnmountCommand.self, SearchCommand.self, SubscribeCommand.self,
      UnsubscribeCommand.self, ListCommand.self, ImportCommand.self, ExportCommand.self, RefreshCommand.self,
      FeedCommand.self, StatusCommand.self, GetCommand.self, PauseCommand.self, ResumeCommand.self,
      CancelCommand.self, DemoCommand.self, DoctorCommand.self, HelpCommand.self,
    ]
  }

  /// - Parameter arguments: without the program's own name.
  /// - Returns: the exit status: 0 done, 1 it failed, 64 wrong usage.
  package static func run(_ arguments: [String]) -> Int32 {
    do {
      return try dispatch(arguments)
    } catch let error as UsageError {
      StandardStreams.complain("\(error) (see podcastfs help)")
      return 64
    } catch {
      StandardStreams.complain("\(error)")
      return 1
    }
  }

  private static func dispatch(_ arguments: [String]) throws -> Int32 {
    guard let first = arguments.first else { throw UsageError("which command?") }
    if ["--help", "-h"].contains(first) { return try HelpCommand.run(ArgumentList([])) }
    if ["--version", "-V"].contains(first) {
      StandardStreams.print("podcastfs \(podcastfsVersion)")
      return 0
    }
    // What everybody tries: podcastfs COMMAND --help.
    if arguments.dropFirst().prefix(while: { $0 != "--" }).contains("--help") {
      return try HelpCommand.run(ArgumentList([first]))
    }
    let rest = ArgumentList(Array(arguments.dropFirst()))
    if let command = commands.first(where: { $0.name == first }) { return try command.run(rest) }
    // As mount(8) calls its helpers: SOURCE MOUNTPOINT -o OPTIONS.
    if arguments.count >= 2, !first.hasPrefix("-"),
      arguments.dropFirst().contains(where: { $0.hasPrefix("/") })
    {
      return try MountCommand.run(source: first, rest)
    }
    throw UsageError("unknown command \"\(first)\"")
  }
}
