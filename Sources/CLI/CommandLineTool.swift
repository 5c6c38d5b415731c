internal import Configuration
internal import Directory
internal import FeedKit
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferClient

package enum CommandLineTool {
  package static let commands: [any Command.Type] = [
    SearchCommand.self, DirectoryCommand.self, SubscribeCommand.self, UnsubscribeCommand.self,
    ListCommand.self, RefreshCommand.self, ImportCommand.self, ExportCommand.self, SyncCommand.self,
    NewCommand.self, FindCommand.self, QueueCommand.self, PositionCommand.self, MarkCommand.self,
    RulesCommand.self, UnhideCommand.self, InfoCommand.self, FeedCommand.self, ForgetCommand.self,
    GetCommand.self, StatusCommand.self, LimitCommand.self, MetricsCommand.self, PauseCommand.self,
    ResumeCommand.self, CancelCommand.self, MountCommand.self, UnmountCommand.self,
    DemoCommand.self, PlayersCommand.self, RestartCommand.self, DoctorCommand.self, VerifyCommand.self,
    HelpCommand.self,
  ]

  /// Those that work neither on a mount nor on what one shows: the demonstration is not meant by them.
  private static let ownWays = [
    "directory", "feed", "mount", "unmount", "demo", "players", "restart", "help",
  ]

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
      if let call = HelperCall(program: arguments.first ?? "", words) {
        try MountCommand.run(call)
        return 0
      }
      return try dispatch(words)
    } catch let end as CommandEnd {
      return end.status
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
    let words = Array(arguments.dropFirst())
    switch arguments.first {
    case nil:
      StandardStreams.write(HelpCommand.overview + "\n", to: StandardStreams.errors)
      return 64
    case MountProbe.word: return MountProbe.run(words)
    case FeedWorker.argument: return FeedWorker.run()
    case DumpWorker.argument: return DumpWorker.run()
    case FeedWorker.probeArgument: return FeedWorker.probe()
    case "--help", "-h": try HelpCommand.run(words.filter { !$0.hasPrefix("-") })
    case "--version", "-V", "version": StandardStreams.print("podcastfs \(podcastfsVersion)")
    case let name?:
      guard let command = commands.first(where: { $0.name == name }) else { throw unknownCommand(name) }
      try run(command, words)
    }
    return 0
  }

  private static func run(_ command: any Command.Type, _ words: [String]) throws {
    // What everybody tries: podcastfs COMMAND --help.
    if !words.prefix(while: { $0 != "--" }).allSatisfy({ $0 != "--help" && $0 != "-h" }) {
      return try HelpCommand.run([command.name])
    }
    let form = CommandForm(command.usage)
    var arguments = ArgumentList(words, of: form)
    if arguments.takeFlag("--quiet", "-q") { StandardStreams.beQuiet() }
    if arguments.takeFlag("--notify") { StandardStreams.beginNotifying() }
    if form.flags.contains("--json"), arguments.takeFlag("--json") { StandardStreams.beJSON() }
    if !ownWays.contains(command.name) {
      DemoPlaces.enterIfMeant(by: arguments.words)
      if let places = try? Places() { TransferClient.resumeUnfinished(places) }
    }
    do { try command.run(&arguments) } catch var error as UsageError {
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
