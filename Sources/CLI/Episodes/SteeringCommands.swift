internal import Catalog
internal import Configuration
internal import EpisodeCache
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

extension Command {
  static let pause = steering(
    "pause", to: .paused, from: [.queued, .downloading],
    """
    Pauses downloads, and keeps what has been downloaded. PATH is an episode, a folder or the name of a
    subscription: all in it that run or wait. --all means all downloads.
    """)

  static let resume = steering(
    "resume", to: .downloading, from: [.paused, .failed],
    """
    Resumes downloads that are paused or have failed. PATH is an episode, a folder or the name of a
    subscription: all directly in it, the newest first. --all means all downloads.
    """)

  static let cancel = steering(
    "cancel", to: .remote, from: [.queued, .downloading, .paused, .failed, .cached],
    """
    Cancels downloads, and drops what has been downloaded. PATH is an episode, a folder or the name of a
    subscription: all directly in it. --all means all that are not complete.
    """)

  /// A command that sets the state of episodes: of those of a directory that have one of these states, or with `--all` of all
  /// that `Downloading/` of a mount shows. A path named by itself always counts.
  private static func steering(
    _ name: String, to target: TransferState, from sources: Set<TransferState>, _ purpose: String
  ) -> Command {
    Command("podcastfs \(name) PATH…|--all\n\n\(purpose)") { arguments in
      let isAll = arguments.takeFlag("--all", "-a")
      let paths = try arguments.operands().map(UserMount.path)
      if paths.isEmpty != isAll { throw UsageError("it takes the paths of episodes, or --all") }
      var found = MountedFile.all(atEach: paths)
      if isAll {
        let root = try UserMount.root()
        if target == .downloading { try MountedFile(path: root).set("paused", to: "0") }
        let folders = ["Downloading", "Downloading/Paused", "Downloading/Failed"]
        found.episodes = try folders.flatMap { try MountedFile.directly(in: "\(root)/\($0)") }
      }
      try set("state", to: target.name, of: found, in: sources, named: Set(paths))
    }
  }

  static let mark = Command(
    """
    podcastfs mark played|unplayed|kept|unkept PATH…

    Marks episodes as played or unplayed. The cache never evicts a kept episode; unkept removes that mark. PATH is an episode,
    or a folder or the name of a subscription: all episodes directly in it.
    """
  ) { arguments in
    let words = try arguments.operands()
    let marks = [
      "played": ("played", "1"), "unplayed": ("played", "0"), "kept": ("keep", "1"), "unkept": ("keep", "0"),
    ]
    guard let (attribute, value) = marks[words[0]] else {
      throw UsageError("mark takes played, unplayed, kept or unkept, and paths")
    }
    try set(attribute, to: value, of: MountedFile.all(atEach: words.dropFirst().map(UserMount.path)))
  }

  /// Reports all failures, and goes on with the next episode.
  /// - Parameter sources: states in which an episode is changed that is not named by itself; nil for all.
  private static func set(
    _ attribute: String, to value: String, of found: MountedFile.Found, in sources: Set<TransferState>? = nil,
    named: Set<String> = []
  ) throws {
    found.report()
    try found.episodes.forEachReporting { episode in
      do {
        let state = try episode.attribute("state").flatMap { TransferState(rawValue: $0) }
        let isMeant = sources.map { sources in state.map(sources.contains) ?? false } ?? true
        if isMeant || named.contains(episode.path) { try episode.set(attribute, to: value) }
      } catch {
        // A download that has ended meanwhile has left its folder.
        if named.contains(episode.path) || Directories.exists(episode.path) { throw error }
      }
    }
    if !found.failures.isEmpty { throw CommandEnd() }
  }

  static let position = Command(
    """
    podcastfs position [--json] FILE [TIME]

    Shows or sets the position in an episode. TIME is in seconds (751.2) or as a clock shows it (12:31, 1:02:03); 0 removes the
    position. A position near the end marks the episode as played.
    """
  ) { arguments in
    let operands = try arguments.operands()
    guard let episode = try MountedFile.all(at: operands[0]).first, episode.path == operands[0] else {
      throw CommandFailure("\(operands[0]): a directory; position takes an episode")
    }
    if operands.count == 2 {
      guard PositionText.milliseconds(operands[1]) != nil else {
        throw UsageError("\(PrintableText.line(operands[1])) is not a time: 751.2, 12:31 or 1:02:03")
      }
      try episode.set("position", to: operands[1])
    }
    let position = try episode.attribute("position") ?? "0"
    try StandardStreams.show(
      .members([
        "position": Double(position) ?? 0, "played": try episode.attribute("played") == "1",
        "last_played": try episode.attribute("last_played"),
        "duration": try episode.attribute("duration").flatMap { Int64($0) },
      ])
    ) {
      if operands.count == 2 { return }
      let clock = PositionText.clock(PositionText.milliseconds(position) ?? 0)
      StandardStreams.print(StandardStreams.outputIsTerminal ? clock : position)
    }
  }

  static let limit = Command(
    """
    podcastfs limit [--json] [RATE]

    Shows or sets the rate that all background downloads share, until the mount is unmounted: bytes per second, or a number
    with K, M or G. 0: no limit.
    """
  ) { arguments in
    let wanted = try arguments.operands().first
    let root = MountedFile(path: try UserMount.root())
    if let wanted {
      guard Settings.rate(wanted) != nil else {
        throw UsageError("\(PrintableText.line(wanted)) is not a rate: 500K, 2M, or 0 for no limit")
      }
      try root.set("limit_rate", to: wanted)
    }
    let rate = try root.attribute("limit_rate").flatMap { Int64($0) } ?? 0
    let isPaused = try root.attribute("paused") == "1"
    StandardStreams.show(.members(["limit_rate": rate, "paused": isPaused])) {
      if wanted == nil { StandardStreams.print(rate == 0 ? "no limit" : "\(HumanText.size(rate))/s") }
    }
  }

  static let metrics = Command(
    """
    podcastfs metrics [--json] [MOUNTPOINT]

    Prints what a mount counts, as OpenMetrics text: requests of the kernel and of the daemon, downloads, what is open.
    It prints the file .podcastfs/metrics of MOUNTPOINT, or of your mount.
    """
  ) { arguments in
    let root = try arguments.operands().first ?? UserMount.root()
    let text: String
    do throws(PosixError) {
      text = String(decoding: try Directories.read("\(root)/.podcastfs/metrics"), as: UTF8.self)
    } catch {
      throw CommandFailure("\(root): \(MountTable.isOurs(root) ? "\(error.errno)" : "not a podcastfs mount")")
    }
    StandardStreams.show(json(ofMetrics: text)) { StandardStreams.write(text) }
  }

  /// Of lines `name{label="text",…} value`.
  private static func json(ofMetrics text: String) -> JSONValue {
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    return .array(
      lines.compactMap { line in
        guard let blank = line.lastIndex(of: " "), let value = Double(line[line.index(after: blank)...])
        else { return nil }
        let name = line[..<blank].prefix { $0 != "{" }
        let labels = line[..<blank].dropFirst(name.count + 1).dropLast().split(separator: ",").map { label in
          let key = label.prefix { $0 != "=" }
          return (String(key), JSONValue.string(String(label.dropFirst(key.count + 2).dropLast())))
        }
        return .members(["name": String(name), "labels": JSONValue.object(labels), "value": value])
      })
  }
}

extension Command {
  static let verify = Command(
    """
    podcastfs verify [--json] [--quiet] [PATH…]

    Checks all downloads against their checksums, or those of PATH: episodes or folders of a mount, or the name of a
    subscription. What is damaged is downloaded again.
    """
  ) { arguments in
    let paths = try arguments.operands().map(UserMount.path)
    let found = MountedFile.all(atEach: paths)
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
        } catch { throw CommandFailure("\(label(status)): \(error)") }
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
