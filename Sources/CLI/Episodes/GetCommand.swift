internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension Command {
  static let get = Command(
    """
    podcastfs get [--newest N] [--since AGE|DATE] [--queue] [--json] [--quiet] PATH…

    Downloads episodes and waits for them. PATH is an episode, a folder (the episodes directly in it, the newest first), or the
    name of a subscription. Where one fails the others continue, and the status is 1. Ctrl-C ends the command, not the
    downloads. Above 20 episodes it asks first on a terminal.

      --newest N    the newest N of each podcast
      --since WHEN  published since then: an age like 7d, or a date like 2026-01-31
      --queue       does not wait
    """
  ) { arguments in
    let isQueued = arguments.takeFlag("--queue")
    let newest = try arguments.takeNumber("--newest", in: 1...100_000)
    let since = try arguments.takeValue("--since").map(moment)
    let choice: MountedFile.Choice = { episodes in
      let recent = since.map { since in episodes.filter { $0.published ?? .min >= since } }
      return Array((recent ?? episodes).prefix(newest ?? .max))
    }
    let paths = try arguments.operands().map(UserMount.path)
    let found = MountedFile.all(atEach: paths, newest == nil && since == nil ? nil : choice)
    found.report()
    var wanted = found.episodes.map { WantedEpisode($0) }
    if wanted.isEmpty, found.failures.isEmpty { StandardStreams.report("no episodes to download") }
    if !isMeant(wanted) { throw CommandEnd() }
    for index in wanted.indices { wanted[index].order() }
    for index in wanted.indices { wanted[index].look() }
    let isShown = isQueued ? false : wait(&wanted)
    if !isShown, wanted.count > (isQueued ? 0 : 1) { StandardStreams.report(totals(wanted)) }
    let refused = found.failures.map { WantedEpisode($0.episode, refusal: $0.failure) }
    StandardStreams.show(.array((wanted + refused).map(\.json))) {}
    let failures = wanted.compactMap { isQueued && !$0.isRefused ? nil : $0.outcome }
    for failure in failures { StandardStreams.complain(failure) }
    if !failures.isEmpty || !found.failures.isEmpty { throw CommandEnd() }
  }

  private static func totals(_ wanted: [WantedEpisode]) -> String {
    DownloadTotals(downloads: wanted.map(\.status)).text
  }

  /// Waits until none can come any more.
  /// - Returns: whether a terminal has shown how far they are.
  private static func wait(_ wanted: inout [WantedEpisode]) -> Bool {
    let isSilent = StandardStreams.isQuiet || StandardStreams.isJSON || wanted.isEmpty
    var display = !isSilent && Terminal.errors.isTerminal ? LiveDisplay(.errors) : nil
    var told: Set<Int> = []
    var reasons: [Int: String] = [:]
    while true {
      // Errors at the end say the reasons.
      let isOver = !wanted.contains { $0.status.isUnfinished }
      display?.draw(footer: wanted.count > 1 ? [totals(wanted)] : []) { columns in
        wanted.map(\.status).map {
          .init(isOver ? [$0.bar(columns: columns)] : $0.lines(columns: columns), $0.color)
        }
      }
      for (index, one) in wanted.enumerated() where display == nil && !StandardStreams.isQuiet {
        if one.status.state == .cached, told.insert(index).inserted {
          StandardStreams.report(one.status.text)
        }
        if one.status.state == .queued, let reason = one.status.error,
          reason != reasons.updateValue(reason, forKey: index)
        {
          StandardStreams.complain(one.named(StandardStreams.waiting(reason)))
        }
      }
      if isOver { return display != nil }
      // Attributes announce nothing: they are looked at twice a second while this command runs.
      usleep(500_000)
      for index in wanted.indices { wanted[index].look() }
    }
  }

  /// - Returns: seconds since 1970.
  private static func moment(_ text: String) throws -> Int64 {
    if let age = AgeText.seconds(text) { return wallClockSeconds() - age }
    if let day = DateText.day(text) { return day }
    throw UsageError("--since takes an age like 7d or a date like 2026-01-31, not \"\(text)\"")
  }

  private static let mostUnasked = 20

  private static func isMeant(_ wanted: [WantedEpisode]) -> Bool {
    guard wanted.count > mostUnasked, !StandardStreams.isJSON, isatty(STDIN_FILENO) == 1,
      Terminal.errors.isTerminal
    else { return true }
    let missing = wanted.count { (try? $0.episode.attribute("state")) != TransferState.cached.name }
    if missing <= mostUnasked { return true }
    StandardStreams.write("download \(missing) episodes? [y/N] ", to: STDERR_FILENO)
    return ["y", "yes"].contains((readLine() ?? "").lowercased())
  }
}

private struct WantedEpisode {
  let episode: MountedFile
  private(set) var status: TransferStatus
  private(set) var isRefused = false

  init(_ episode: MountedFile, refusal: CommandFailure? = nil) {
    (self.episode, status) = (episode, episode.unknown)
    if let refusal { refuse(refusal) }
  }

  mutating func order() {
    attempt { one in
      let isComplete = try one.episode.attribute("state") == TransferState.cached.name
      // The order keeps a complete download from rules; the command succeeds without it.
      do { try one.episode.set("state", to: TransferState.downloading.name) } catch {
        if !isComplete { throw error }
      }
    }
  }

  mutating func look() { attempt { one in one.status = try one.episode.progress() } }
  func named(_ words: String) -> String { "\(episode.path): \(words)" }

  /// Why it is not here; nil where it is.
  var outcome: String? {
    switch status.state {
    case .cached: nil
    case .paused: named(status.error ?? "it was paused")
    case .remote: named(status.error ?? "it was cancelled")
    case .downloading, .failed, .queued: named(status.error ?? "it is \(status.state.name)")
    }
  }

  private mutating func attempt(_ body: (inout WantedEpisode) throws -> Void) {
    if isRefused { return }
    do { try body(&self) } catch { refuse(error) }
  }

  private mutating func refuse(_ error: any Error) {
    (isRefused, status.state) = (true, .failed)
    // What an errno can't say: the attribute does.
    status.error =
      episode.text("error").map { "\($0) (podcastfs doctor finds out why)" }
      ?? (error as? CommandFailure)?.reason(of: episode.path) ?? "\(error)"
  }

  var json: JSONValue {
    .members([
      "path": episode.path, "state": isRefused ? nil : status.state.name,
      "bytes_received": isRefused ? nil : status.received, "bytes_total": status.total, "error": status.error,
    ])
  }
}
