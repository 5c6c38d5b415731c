internal import Configuration

/// `podcastfs help`.
enum HelpCommand: Command {
  static let name = "help"
  static let summary = "explain the commands and the options"
  static let usage = """
    podcastfs help [COMMAND|options]

    Lists the commands, explains one, or lists the options of a mount and of the configuration file.

      --manual PAGE        the manual page podcastfs(1), podcastfs.conf(5), podcastfs-transferd(8) or
                           mount.podcastfs(8), by its name without the section, for man(1)
      --completion SHELL   the completions for bash, zsh or fish
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    if let page = try arguments.takeValue("--manual") {
      guard let manual = Manuals.page(page) else { throw UsageError("there is no manual page \(page)") }
      StandardStreams.write(manual)
      return 0
    }
    if let shell = try arguments.takeValue("--completion") {
      guard let text = Completion(rawValue: shell)?.text else {
        throw UsageError("there are completions for bash, zsh and fish")
      }
      StandardStreams.write(text)
      return 0
    }
    let operands = try arguments.operands()
    switch operands.count {
    case 0: StandardStreams.print(overview)
    case 1: StandardStreams.print(try explanation(of: operands[0]))
    default: throw UsageError("help takes one command")
    }
    return 0
  }

  private static func explanation(of topic: String) throws -> String {
    if topic == "options" { return options(.all) }
    guard let command = CommandLineTool.commands.first(where: { $0.name == topic }) else {
      throw CommandLineTool.unknownCommand(topic)
    }
    guard topic == MountCommand.name else { return command.usage }
    return command.usage + "\n\nOptions for -o:\n" + options(.mount)
  }

  private enum OptionRange { case all, mount }

  /// The options in two columns.
  private static func options(_ range: OptionRange) -> String {
    let shown = OptionHelp.all.filter { range == .all || $0.place != .fileOnly }
    let forms = shown.map { "  " + $0.form }
    let width = min(forms.map(\.count).max() ?? 0, 26)
    return zip(shown, forms).map { option, form in
      let indent = String(repeating: " ", count: width + 2)
      let first = form.count > width ? form + "\n" + indent : form + indent.dropFirst(form.count)
      return first + option.text + option.remark
    }.joined(separator: "\n")
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

      podcastfs help COMMAND explains a command, podcastfs help options the options of a mount; podcastfs
      --version tells the version. With --quiet, before the command or behind it, it says nothing where all went
      well.
      """
  }
}
