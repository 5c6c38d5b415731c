internal import Configuration
internal import PosixKit

/// `podcastfs help`.
enum HelpCommand: Command {
  static let name = "help"
  static let summary = "explain the commands and the options"
  static let worksOnMounts = false
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
    let text = CommandForm(command).text(columns: columns)
    guard topic == MountCommand.name else { return text }
    return text + "\n\nOptions for -o:\n" + options(.mount)
  }

  /// Of the terminal; longer lines are hard to read.
  private static var columns: Int { min(Terminal.output.width, 99) }

  private enum OptionRange { case all, mount }

  /// The options in two columns.
  private static func options(_ range: OptionRange) -> String {
    OptionHelp.all.filter { range == .all || $0.place != .fileOnly }.map { option in
      ColumnText.entry("  " + option.form, option.text + option.remark, at: 28, columns)
    }.joined(separator: "\n")
  }

  /// What `podcastfs help` shows: a line for commands that belong together.
  private static var groups: [(title: String, lines: [(commands: [any Command.Type], summary: String)])] {
    [
      (
        "Podcasts",
        [
          ([SearchCommand.self], "search for podcasts"),
          ([SubscribeCommand.self, UnsubscribeCommand.self], "follow podcasts, stop following them"),
          ([ListCommand.self, RefreshCommand.self], "show what is followed; fetch its feeds now"),
          ([ImportCommand.self, ExportCommand.self], "read and write lists of subscriptions (OPML)"),
          ([FeedCommand.self], FeedCommand.summary),
          ([ForgetCommand.self], ForgetCommand.summary),
        ]
      ),
      (
        "Downloads",
        [
          ([GetCommand.self], GetCommand.summary),
          ([StatusCommand.self], StatusCommand.summary),
          ([PauseCommand.self, ResumeCommand.self, CancelCommand.self], "pause, resume or drop downloads"),
          ([VerifyCommand.self], VerifyCommand.summary),
        ]
      ),
      (
        "Mount",
        [
          ([MountCommand.self, UnmountCommand.self], "mount podcasts on a directory (~/Podcasts)"),
          ([OpenCommand.self], OpenCommand.summary),
          ([DemoCommand.self], DemoCommand.summary),
          ([RestartCommand.self], RestartCommand.summary),
        ]
      ),
      (
        "Upkeep",
        [
          ([DoctorCommand.self], DoctorCommand.summary),
          ([HelpCommand.self], "explain a command"),
        ]
      ),
    ]
  }

  /// All commands, within 24 lines of 80 columns.
  static var overview: String {
    var lines = [
      ColumnText.wrapped("podcastfs COMMAND …: podcasts as directories, episodes as files", columns)
    ]
    for group in groups {
      lines.append(group.title)
      lines += group.lines.map { line in
        let names = line.commands.map { $0.name }.joined(separator: " | ")
        return ColumnText.entry("  " + names, line.summary, at: 28, columns)
      }
    }
    let rest =
      "More: podcastfs help COMMAND, podcastfs help options. With --quiet a command says nothing where all goes well; "
      + "--version tells the version."
    lines.append(ColumnText.wrapped(rest, columns))
    return lines.joined(separator: "\n")
  }
}
