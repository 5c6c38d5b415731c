internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

enum VerifyCommand: Command {
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
    var checked: [VerifiedEpisode] = []
    var hasFailed = !found.failures.isEmpty
    for status in StatusReport.byName(chosen) {
      do {
        guard let episode = try client.verify(status) else { continue }
        checked.append(episode)
        if !episode.damaged.isEmpty { try replace(episode, client) }
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
  private static func replace(_ episode: VerifiedEpisode, _ client: TransferClient) throws {
    let size = HumanText.size(episode.damaged.reduce(0) { $0 + Int64($1.count) })
    let words = "\(label(episode.status)): \(size) damaged, will be downloaded again"
    if !StandardStreams.isJSON { StandardStreams.print(words) }
    try client.wait(for: .replace(episode.status.key, generation: episode.status.generation))
  }

  private static func label(_ status: TransferStatus) -> String {
    let words = [status.show, status.title].filter { !$0.isEmpty }.joined(separator: " – ")
    return PrintableText.line(words.isEmpty ? status.key.text : words)
  }

  private static func summary(_ checked: [VerifiedEpisode]) -> String {
    let damaged = checked.count { !$0.damaged.isEmpty }
    let (sound, unsummed) = (checked.reduce(0) { $0 + $1.sound }, checked.reduce(0) { $0 + $1.unsummed })
    var words = ["\(HumanText.count(checked.count, "episode")) checked", "\(HumanText.size(sound)) intact"]
    if unsummed > 0 { words.append("\(HumanText.size(unsummed)) without a checksum") }
    if !checked.isEmpty { words.append(damaged == 0 ? "nothing is damaged" : "\(damaged) damaged") }
    return words.joined(separator: ", ")
  }

  private static func json(_ checked: [VerifiedEpisode]) -> JSONValue {
    let damaged = checked.filter { !$0.damaged.isEmpty }.map { episode in
      JSONValue.members([
        "key": episode.status.key.text, "title": episode.status.title, "show": episode.status.show,
        "name": episode.status.fileName, "ranges": episode.damaged.map { [$0.lowerBound, $0.upperBound] },
      ])
    }
    return .members([
      "checked": checked.count, "sound_bytes": checked.reduce(0) { $0 + $1.sound },
      "unsummed_bytes": checked.reduce(0) { $0 + $1.unsummed }, "damaged": damaged,
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
