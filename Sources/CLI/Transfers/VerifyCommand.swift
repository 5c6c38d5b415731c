internal import Catalog
internal import Configuration
internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

extension Command {
  static let verify = Command(
    """
    podcastfs verify [--json] [--quiet] [PATH…]

    Checks all downloads against their checksums, or those of PATH: episodes or folders of a mount, or the name of a
    subscription. What is damaged is downloaded again.
    """
  ) { arguments in
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
    var (count, sound, damaged) = (0, Int64(0), [JSONValue]())
    let end = Result {
      let sorted = chosen.sorted { ($0.show, $0.fileName) < ($1.show, $1.fileName) }
      try sorted.forEachReporting { status in
        do {
          let check = try GenerationCheck(client.layout, status.key, status.generation)
          (count, sound) = (count + 1, sound + check.sound)
          if check.damaged.isEmpty { return }
          damaged.append(json(status, check.damaged))
          let size = HumanText.size(check.damaged.reduce(0) { $0 + Int64($1.count) })
          let words = "\(label(status)): \(size) damaged, will be downloaded again"
          if !StandardStreams.isJSON { StandardStreams.print(words) }
          try client.wait(for: .replace(status.key, generation: status.generation))
        } catch let error as PosixError where error.errno == .ENOENT {
          // Of some nothing is cached.
        } catch {
          throw CommandFailure("\(label(status)): \(error)")
        }
      }
    }
    if StandardStreams.isJSON || paths.isEmpty || !found.episodes.isEmpty {
      StandardStreams.show(.members(["checked": count, "sound_bytes": sound, "damaged": damaged])) {
        let outcome = damaged.isEmpty ? "nothing is damaged" : "\(damaged.count) damaged"
        StandardStreams.report(
          "\(HumanText.count(count, "episode")) checked, \(HumanText.size(sound)) intact"
            + (count == 0 ? "" : ", " + outcome))
      }
    }
    try end.get()
    if !found.failures.isEmpty { throw CommandEnd() }
  }

  private static func label(_ status: TransferStatus) -> String {
    let words = [status.show, status.title].filter { !$0.isEmpty }.joined(separator: " – ")
    return PrintableText.line(words.isEmpty ? status.key.text : words)
  }

  private static func json(_ status: TransferStatus, _ damaged: [Range<Int64>]) -> JSONValue {
    .members([
      "key": status.key.text, "title": status.title, "show": status.show, "name": status.fileName,
      "ranges": damaged.map { [$0.lowerBound, $0.upperBound] },
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
