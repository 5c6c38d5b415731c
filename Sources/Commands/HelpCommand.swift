/// `podcastfs help`.
enum HelpCommand: Command {
  static let name = "help"
  static let summary = "explain the commands"
  static let usage = """
    podcastfs help [COMMAND]

    Lists the commands, or explains one.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let operands = try arguments.operands()
    switch operands.count {
    case 0: StandardStreams.print(overview)
    case 1:
      guard let command = CommandLineTool.commands.first(where: { $0.name == operands[0] }) else {
        throw UsageError("unknown command \"\(operands[0])\"")
      }
      StandardStreams.print(command.usage)
    default: throw UsageError("help takes one command")
    }
    return 0
  }

  /// All commands, each with its line.
  static var overview: String {
    let width = CommandLineTool.commands.map { $0.name.count }.max() ?? 0
    let lines = CommandLineTool.commands.map { command in
      "  \(command.name)" + String(repeating: " ", count: width + 2 - command.name.count) + command.summary
    }
    return """
      Podcasts as directories, episodes as files.

      usage: podcastfs COMMAND …

      \(lines.joined(separator: "\n"))

      podcastfs help COMMAND explains a command; podcastfs --version tells the version.
      """
  }
}
