internal import Configuration
internal import PosixKit

enum HelpCommand: Command {
  static let name = "help"
  static let summary = "explain the commands and the options"
  static let worksOnMounts = false
  static let usage = """
    podcastfs help [COMMAND|options]

    Lists the commands, explains one, or explains the options of a mount and of the configuration file.

      --manual PAGE        prints a manual page for man(1): podcastfs, podcastfs.conf, podcastfs-transferd or mount.podcastfs
      --completion SHELL   prints the completions for bash, zsh or fish
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    if let page = try arguments.takeValue("--manual") {
      guard let manual = Manuals.page(page) else { throw UsageError("there is no manual page \(page)") }
      StandardStreams.write(manual)
      return 0
    }
    if let shell = try arguments.takeValue("--completion") {
      StandardStreams.write(try completion(shell).script)
      return 0
    }
    // As the scripts of the completions call it.
    if let shell = try arguments.takeValue("--complete") {
      let candidates = try completion(shell).candidates(arguments.operands().first ?? "")
      StandardStreams.write(candidates.map { $0 + "\n" }.joined())
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

  private static func completion(_ shell: String) throws -> Completion {
    if let completion = Completion(rawValue: shell) { return completion }
    throw UsageError("there are completions for bash, zsh and fish")
  }

  private static func explanation(of topic: String) throws -> String {
    if topic == "options" { return options(OptionHelp.all) }
    guard let command = CommandLineTool.commands.first(where: { $0.name == topic }) else {
      throw CommandLineTool.unknownCommand(topic, or: ["options"])
    }
    return CommandForm(command).text(columns: columns)
  }

  /// Of the terminal; longer lines are hard to read.
  private static var columns: Int { min(Terminal.output.width, 99) }

  private static func options(_ options: [OptionHelp]) -> String {
    options.map { option in
      ColumnText.entry("  " + option.form, option.text + option.remark, at: 28, columns)
    }.joined(separator: "\n")
  }

  /// All commands, within 24 lines of 80 columns.
  static var overview: String {
    var lines = [
      ColumnText.wrapped("podcastfs COMMAND …: podcasts as directories, episodes as files", columns)
    ]
    for group in CommandLineTool.groups {
      lines.append(group.title)
      lines += group.lines.map { line in
        let names = line.commands.map { $0.name }.joined(separator: " | ")
        return ColumnText.entry("  " + names, line.summary, at: 28, columns)
      }
    }
    let rest =
      "More: podcastfs help COMMAND, podcastfs help options. With --quiet, commands print only errors; --version prints "
      + "the version."
    lines.append(ColumnText.wrapped(rest, columns))
    return lines.joined(separator: "\n")
  }
}
