internal import Catalog
internal import Configuration
internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

enum VerifyCommand: Command {
  private typealias Checked = (status: TransferStatus, check: GenerationCheck)

  static let usage = """
    podcastfs verify [--json] [--quiet] [PATH…]

    Checks all downloads against their checksums, or those of PATH: episodes or folders of a mount, or the name of a
    subscription. What is damaged is downloaded again.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let paths = try arguments.paths()
    let found = MountedEpisode.all(atEach: paths)
    found.report()
    let (places, settings) = try CommandSettings.load()
    try places.create()
    try MountOwner.check(paths, places: places)
    let client = try TransferClient(places: places, settings: settings, isMount: false)
    defer { client.stop() }
    client.waitUntilCurrent(until: .after(2))
    let rows = found.episodes.compactMap(\.row)
    let wanted = Set(KnownEntries.keys(ofEpisodes: rows, inFile: "\(places.data)/catalog.sqlite"))
    let chosen = client.allStatuses().filter { paths.isEmpty || wanted.contains($0.key) }
    var checked: [Checked] = []
    var hasFailed = !found.failures.isEmpty
    for status in chosen.sorted(by: { ($0.show, $0.fileName) < ($1.show, $1.fileName) }) {
      do {
        let check = try GenerationCheck(client.layout, status.key, status.generation)
        checked.append((status, check))
        if !check.damaged.isEmpty { try replace(status, check, client) }
      } catch let error as PosixError where error.errno == .ENOENT {
        // Of some nothing is cached.
        continue
      } catch {
        StandardStreams.complain("\(label(status)): \(error)")
        hasFailed = true
      }
    }
    if StandardStreams.isJSON || paths.isEmpty || !found.episodes.isEmpty {
      StandardStreams.show(json(checked)) { StandardStreams.report(summary(checked)) }
    }
    if hasFailed { throw CommandEnd() }
  }

  /// Orders what is damaged anew.
  private static func replace(
    _ status: TransferStatus, _ check: GenerationCheck, _ client: TransferClient
  ) throws {
    let size = HumanText.size(check.damaged.reduce(0) { $0 + Int64($1.count) })
    let words = "\(label(status)): \(size) damaged, will be downloaded again"
    if !StandardStreams.isJSON { StandardStreams.print(words) }
    try client.wait(for: .replace(status.key, generation: status.generation))
  }

  private static func label(_ status: TransferStatus) -> String {
    let words = [status.show, status.title].filter { !$0.isEmpty }.joined(separator: " – ")
    return PrintableText.line(words.isEmpty ? status.key.text : words)
  }

  private static func summary(_ checked: [Checked]) -> String {
    let damaged = checked.count { !$0.check.damaged.isEmpty }
    let sound = checked.reduce(0) { $0 + $1.check.sound }
    var words = ["\(HumanText.count(checked.count, "episode")) checked", "\(HumanText.size(sound)) intact"]
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
      "checked": checked.count, "sound_bytes": checked.reduce(0) { $0 + $1.check.sound }, "damaged": damaged,
    ])
  }
}

extension TransferClient {
  /// Waits until the daemon has confirmed an order, for a minute at most.
  func wait(for order: TransferOrder) throws {
    let end = Waiting.result(within: 60) { self.order(order, completion: $0) }
    guard let end else { throw CommandFailure("the transfer daemon does not answer") }
    if let failure = end { throw CommandFailure(failure.message) }
  }
}
