internal import Configuration
internal import Directory
internal import FeedKit
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferClient

package enum CommandLineTool {
  /// Commands that `podcastfs help` shows on one line.
  struct Line: Sendable {
    let commands: [any Command.Type]
    let summary: String

    init(_ commands: (any Command.Type)..., text: String? = nil) {
      (self.commands, summary) = (commands, text ?? commands[0].summary)
    }
  }

  static var groups: [(title: String, lines: [Line])] {
    [("Podcasts", podcasts), ("Downloads", downloads), ("Mount", mounts), ("Upkeep", upkeep)]
  }

  private static let podcasts = [
    Line(SearchCommand.self, DirectoryCommand.self, text: "search for podcasts; search offline"),
    Line(SubscribeCommand.self, UnsubscribeCommand.self, text: "follow podcasts, stop following them"),
    Line(ListCommand.self, RefreshCommand.self, text: "list what you follow; fetch its feeds now"),
    Line(
      ImportCommand.self, ExportCommand.self, SyncCommand.self,
      text: "lists (OPML) and backups; synchronize devices"),
    Line(
      NewCommand.self, FindCommand.self, QueueCommand.self,
      text: "list what is new; find episodes; what is next"),
    Line(PositionCommand.self, MarkCommand.self, text: "set a position; mark as played or kept"),
    Line(RulesCommand.self, UnhideCommand.self, text: "automatic downloads; show removed episodes"),
    Line(
      InfoCommand.self, FeedCommand.self, ForgetCommand.self,
      text: "show details; check a feed; remove a podcast"),
  ]
  private static let downloads = [
    Line(GetCommand.self),
    Line(
      StatusCommand.self, LimitCommand.self, MetricsCommand.self, text: "show downloads; limit them; measure"),
    Line(PauseCommand.self, ResumeCommand.self, CancelCommand.self, text: "pause, resume or drop downloads"),
  ]
  private static let mounts = [
    Line(MountCommand.self, UnmountCommand.self, text: "mount podcasts on a folder (~/Podcasts)"),
    Line(
      OpenCommand.self, DemoCommand.self, PlayersCommand.self,
      text: "open the folder; try it out; media players"),
    Line(RestartCommand.self),
  ]
  private static let upkeep = [
    Line(DoctorCommand.self, VerifyCommand.self, text: "find problems and fixes; check downloads"),
    Line(HelpCommand.self, text: "explain a command"),
  ]

  package static var commands: [any Command.Type] { groups.flatMap { $0.lines.flatMap(\.commands) } }

  /// - Parameter arguments: the program's own name first.
  /// - Returns: the exit status: 0 done, 1 it failed or its output could not be written, 64 wrong usage.
  package static func run(_ arguments: [String]) -> Int32 {
    OperandText.set(Array(arguments.dropFirst()))
    let status = outcome(of: arguments)
    StandardStreams.endNotifying()
    return status == 0 && StandardStreams.isCut ? 1 : status
  }

  private static func outcome(of arguments: [String]) -> Int32 {
    do {
      let words = Array(arguments.dropFirst())
      if let call = HelperCall(program: arguments.first ?? "", words) { return try MountCommand.run(call) }
      return try dispatch(words)
    } catch let error as UsageError {
      StandardStreams.complain("\(error) (see podcastfs help\(error.topic.map { " " + $0 } ?? ""))")
      return 64
    } catch let error as MountFailure.Usage {
      StandardStreams.complain("\(error.description) (see podcastfs help options)")
      return 64
    } catch {
      StandardStreams.complain("\(error)")
      return 1
    }
  }

  private static func dispatch(_ arguments: [String]) throws -> Int32 {
    guard let first = arguments.first else {
      StandardStreams.write(HelpCommand.overview + "\n", to: StandardStreams.errors)
      return 64
    }
    if first == MountProbe.word { return MountProbe.run(Array(arguments.dropFirst())) }
    if first == FeedWorker.argument { return FeedWorker.run() }
    if first == DumpWorker.argument { return DumpWorker.run() }
    if first == FeedWorker.probeArgument { return FeedWorker.probe() }
    if ["--help", "-h"].contains(first) {
      return try HelpCommand.run(arguments.dropFirst().filter { !$0.hasPrefix("-") })
    }
    if ["--version", "-V", "version"].contains(first) {
      StandardStreams.print("podcastfs \(podcastfsVersion)")
      return 0
    }
    guard let command = commands.first(where: { $0.name == first }) else {
      throw unknownCommand(first)
    }
    // What everybody tries: podcastfs COMMAND --help.
    if !arguments.dropFirst().prefix(while: { $0 != "--" }).allSatisfy({ $0 != "--help" && $0 != "-h" }) {
      return try HelpCommand.run([first])
    }
    let flags = CommandForm(command).flags + ["--quiet", "--notify", "--help"]
    var rest = ArgumentList(Array(arguments.dropFirst()), flags: flags)
    if rest.takeFlag("--quiet", "-q") { StandardStreams.beQuiet() }
    if rest.takeFlag("--notify") { StandardStreams.beginNotifying() }
    if command.worksOnMounts {
      DemoPlaces.enterIfMeant(by: rest.words)
      if let places = try? Places() { TransferClient.resumeUnfinished(places) }
    }
    do { return try command.run(&rest) } catch var error as UsageError {
      error.topic = error.topic ?? command.name
      throw error
    }
  }

  /// - Parameter more: words that were possible, too.
  static func unknownCommand(_ word: String, or more: [String] = []) -> UsageError {
    let shown = PrintableText.line(word)
    if word.hasPrefix("-") {
      return UsageError("\(shown) goes behind the command: podcastfs COMMAND \(shown)")
    }
    let question = SimilarWord.question(word, among: commands.map { $0.name } + more)
    return UsageError("unknown command \"\(shown)\"\(question)")
  }
}
