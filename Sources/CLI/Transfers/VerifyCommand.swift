internal import Catalog
internal import Configuration
internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

enum VerifyCommand: Command {
  private typealias Checked = (status: TransferStatus, check: GenerationCheck)

  static let name = "verify"
  static let summary = "check downloads against their checksums"
  static let usage = """
    podcastfs verify [--json] [--quiet] [PATH…]

    Checks all downloads against their checksums, or those of PATH: episodes or folders of a mount, or
    the name of a subscription. What is damaged is downloaded
    again.

      --json   {"checked", "sound_bytes", "damaged": [{"key", "title", "show", "name", "ranges": [[from, to]]}]}
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let paths = try arguments.paths()
    let operands = MountedEpisode.all(atEach: paths)
    var failures = operands.failures.map { "\($0.failure)" }
    let (places, settings) = try CommandSettings.load()
    try places.create()
    for path in paths {
      if let stranger = MountOwner.stranger(at: path, places: places) {
        throw CommandFailure("\(path): \(stranger)")
      }
    }
    let client = try TransferClient(places: places, settings: settings, isMount: false)
    defer { client.stop() }
    client.waitUntilCurrent(until: .after(2))
    let all = client.allStatuses()
    let chosen = paths.isEmpty ? all : statuses(of: operands.episodes, in: all, places)
    var checked: [Checked] = []
    for status in chosen.sorted(by: { ($0.show, $0.fileName) < ($1.show, $1.fileName) }) {
      do throws(PosixError) {
        let check = try GenerationCheck(client.layout, status.key, status.generation)
        checked.append((status, check))
        if check.damaged.isEmpty { continue }
        if !isJSON { StandardStreams.print(line(status, check)) }
        if let failure = replace(status, client) { failures.append("\(label(status)): \(failure)") }
      } catch {
        // Of some nothing is cached.
        if error.errno != .ENOENT { failures.append("\(label(status)): \(error)") }
      }
    }
    if isJSON {
      StandardStreams.print(json(checked).indentedText)
    } else if paths.isEmpty || !operands.episodes.isEmpty {
      StandardStreams.report(summary(checked))
    }
    guard let last = failures.last else { return 0 }
    for failure in failures.dropLast() { StandardStreams.complain(failure) }
    throw CommandFailure(last)
  }

  private static func statuses(
    of episodes: [MountedEpisode], in all: [TransferStatus], _ places: Places
  ) -> [TransferStatus] {
    let keys = KnownEntries.keys(
      ofEpisodes: episodes.compactMap(\.row), inFile: "\(places.data)/catalog.sqlite")
    let wanted = Set(keys)
    return all.filter { wanted.contains($0.key) }
  }

  /// Orders what is damaged anew; why that failed.
  private static func replace(_ status: TransferStatus, _ client: TransferClient) -> TransferFailure? {
    let order = TransferOrder.replace(status.key, generation: status.generation)
    let end = Waiting.result(within: 60) { client.order(order, completion: $0) }
    return end ?? TransferFailure(.ETIMEDOUT, "the daemon does not answer")
  }

  private static func label(_ status: TransferStatus) -> String {
    let words = [status.show, status.title].filter { !$0.isEmpty }.joined(separator: " – ")
    return PrintableText.line(words.isEmpty ? status.key.text : words)
  }

  private static func line(_ status: TransferStatus, _ check: GenerationCheck) -> String {
    let size = HumanText.size(check.damaged.reduce(0) { $0 + Int64($1.count) })
    return "\(label(status)): \(size) damaged, will be downloaded again"
  }

  private static func summary(_ checked: [Checked]) -> String {
    let damaged = checked.count { !$0.check.damaged.isEmpty }
    var words = [
      HumanText.count(checked.count, "episode") + " checked",
      "\(HumanText.size(checked.reduce(0) { $0 + $1.check.sound })) intact",
    ]
    if !checked.isEmpty { words.append(damaged == 0 ? "nothing is damaged" : "\(damaged) damaged") }
    return words.joined(separator: ", ")
  }

  private static func json(_ checked: [Checked]) -> JSONValue {
    let damaged = checked.filter { !$0.check.damaged.isEmpty }.map { status, check in
      JSONValue.members([
        "key": status.key.text, "title": status.title, "show": status.show, "name": status.fileName,
        "ranges": check.damaged.map { [$0.lowerBound, $0.upperBound] },
      ])
    }
    return .members([
      "checked": checked.count, "sound_bytes": checked.reduce(0) { $0 + $1.check.sound },
      "damaged": damaged,
    ])
  }
}
