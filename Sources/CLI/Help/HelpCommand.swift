internal import Configuration
internal import PosixKit

enum HelpCommand: Command {
  static let usage = """
    podcastfs help [COMMAND|options]

    Lists the commands, explains one, or explains the options of a mount and of the configuration file.

      --manual  prints the manual page for man(1)
    """

  static func run(_ arguments: inout ArgumentList) throws {
    if arguments.takeFlag("--manual") { return StandardStreams.write(Manual.page) }
    let topic = try arguments.operands().first
    StandardStreams.print(try topic.map(explanation) ?? overview)
  }

  private static func explanation(of topic: String) throws -> String {
    if topic == "options" {
      return OptionHelp.all.map { option in
        ColumnText.entry("  " + option.form, option.text + option.remark, at: 28, columns)
      }.joined(separator: "\n")
    }
    guard let command = CommandLineTool.commands.first(where: { $0.name == topic }) else {
      throw CommandLineTool.unknownCommand(topic, or: ["options"])
    }
    return CommandForm(command.usage).text(columns: columns)
  }

  /// Of the terminal; longer lines are hard to read.
  private static var columns: Int { min(Terminal.output.width, 99) }

  /// All commands, within 24 lines of 80 columns.
  static var overview: String {
    CommandForm.blocks(commands.split(separator: "\n").map(String.init)).map { block in
      switch block {
      case .option(let names, let words): ColumnText.entry("  " + names, words, at: 28, columns)
      case .heading(let words), .literal(let words), .paragraph(let words): ColumnText.wrapped(words, columns)
      }
    }.joined(separator: "\n")
  }

  private static let commands = """
    podcastfs COMMAND …: podcasts as directories, episodes as files
    # Podcasts
      search | directory  search for podcasts; search offline
      subscribe | unsubscribe  follow podcasts, stop following them
      list | refresh  list what you follow; fetch its feeds now
      import | export | sync  lists (OPML) and backups; synchronize devices
      new | find | queue  list what is new; find episodes; what is next
      position | mark  set a position; mark as played or kept
      rules | unhide  automatic downloads; show removed episodes
      info | feed | forget  show details; check a feed; remove a podcast
    # Downloads
      get  download episodes and wait for them
      status | limit | metrics  show downloads; limit them; measure
      pause | resume | cancel  pause, resume or drop downloads
    # Mount
      mount | unmount  mount podcasts on a folder (~/Podcasts)
      demo | players  try it out; store positions of media players
      restart  let the installed version serve a mount
    # Upkeep
      doctor | verify  find problems and fixes; check downloads
      help  explain a command
    More: podcastfs help COMMAND, podcastfs help options. With --quiet, commands print only errors; --json is for scripts;
    --version prints the version.
    """
}
