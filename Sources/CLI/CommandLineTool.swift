internal import Configuration
internal import Directory
internal import FeedKit
internal import Glibc
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferClient

package enum CommandLineTool {
  package static let commands: [Command] = [
    .search, .directory, .subscribe, .unsubscribe, .list, .refresh, .importing, .export, .sync, .new, .find,
    .queue, .position, .mark, .rules, .unhide, .info, .feed, .forget, .get, .status, .limit, .metrics, .pause,
    .resume, .cancel, .mount, .unmount, .demo, .players, .restart, .doctor, .verify, .help,
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
      return try MountCall.runForMount(arguments) ? 0 : dispatch(Array(arguments.dropFirst()))
    } catch let end as CommandEnd {
      return end.status
    } catch let error as UsageError {
      StandardStreams.complain("\(error) (see podcastfs help\(error.topic.map { " " + $0 } ?? ""))")
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
      StandardStreams.write(Help.overview + "\n", to: STDERR_FILENO)
      return 64
    case MountProbe.word: return MountProbe.run(words)
    case FeedWorker.argument: return FeedWorker.run()
    case DumpWorker.argument: return DumpWorker.run()
    case FeedWorker.probeArgument: return FeedWorker.probe()
    case "--help", "-h": try run(.help, words.filter { !$0.hasPrefix("-") })
    case "--version", "-V", "version": StandardStreams.print("podcastfs \(podcastfsVersion)")
    case let name?: try run(command(name), words)
    }
    return 0
  }

  private static func run(_ command: Command, _ words: [String]) throws {
    // What everybody tries: podcastfs COMMAND --help.
    if !words.prefix(while: { $0 != "--" }).allSatisfy({ $0 != "--help" && $0 != "-h" }) {
      return try run(.help, [command.name])
    }
    var arguments = ArgumentList(words, of: command.form)
    if arguments.takeFlag("--quiet", "-q") { StandardStreams.beQuiet() }
    if arguments.takeFlag("--notify") { StandardStreams.beginNotifying() }
    if command.form.flags.contains("--json"), arguments.takeFlag("--json") { StandardStreams.beJSON() }
    if !ownWays.contains(command.name) {
      DemoPlaces.enterIfMeant(by: arguments.words)
      if let places = try? Places() { TransferClient.resumeUnfinished(places) }
    }
    defer { CatalogSession.settle() }
    do { try command.run(&arguments) } catch var error as UsageError {
      error.topic = error.topic ?? command.name
      throw error
    }
  }

  /// - Parameter more: words that were possible, too.
  static func command(_ name: String, or more: [String] = []) throws -> Command {
    if let command = commands.first(where: { $0.name == name }) { return command }
    let shown = PrintableText.line(name)
    if name.hasPrefix("-") {
      throw UsageError("\(shown) goes behind the command: podcastfs COMMAND \(shown)")
    }
    let question = SimilarWord.question(name, among: commands.map { $0.name } + more)
    throw UsageError("unknown command \"\(shown)\"\(question)")
  }
}
