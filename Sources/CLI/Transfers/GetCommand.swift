internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

enum GetCommand: Command {
  static let usage = """
    podcastfs get [--newest N] [--since AGE|DATE] [--queue] [--json] [--quiet] PATH…

    Downloads episodes and waits for them. PATH is an episode, a folder (the episodes directly in it, the newest first), or the
    name of a subscription. Where one fails the others continue, and the status is 1. Ctrl-C ends the command, not the
    downloads. Above 20 episodes it asks first on a terminal.

      --newest N    the newest N of each podcast
      --since WHEN  published since then: an age like 7d, or a date like 2026-01-31
      --queue       does not wait
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let isQueued = arguments.takeFlag("--queue")
    let newest = try arguments.takeNumber("--newest", in: 1...100_000)
    let choice = MountedEpisode.Choice(newest: newest, since: try arguments.takeValue("--since").map(moment))
    let found = MountedEpisode.all(atEach: try arguments.paths(), choice)
    found.report()
    var wanted = found.episodes.map(Wanted.init)
    if wanted.isEmpty, found.failures.isEmpty { StandardStreams.report("no episodes to download") }
    if !isMeant(wanted) { throw CommandEnd() }
    for index in wanted.indices { wanted[index].order() }
    for index in wanted.indices { wanted[index].look() }
    let isShown = isQueued ? false : wait(&wanted)
    if !isShown, wanted.count > (isQueued ? 0 : 1) {
      StandardStreams.report(DownloadTotals(downloads: wanted.map(\.status)).text)
    }
    let refused = found.failures.map { Wanted($0.episode, refusal: $0.failure) }
    StandardStreams.show(.array((wanted + refused).map(\.json))) {}
    let failures = wanted.compactMap { isQueued && !$0.isRefused ? nil : $0.outcome }
    for failure in failures { StandardStreams.complain(failure) }
    if !failures.isEmpty || !found.failures.isEmpty { throw CommandEnd() }
  }

  /// Waits until none can come any more.
  /// - Returns: whether a terminal has shown how far they are.
  private static func wait(_ wanted: inout [Wanted]) -> Bool {
    let isSilent = StandardStreams.isQuiet || StandardStreams.isJSON || wanted.isEmpty
    var display = !isSilent && Terminal.errors.isTerminal ? LiveDisplay(.errors) : nil
    var told: Set<Int> = []
    var reasons: [Int: String] = [:]
    while true {
      // Errors at the end say the reasons.
      let isOver = !wanted.contains { $0.status.isUnfinished }
      let footer = wanted.count > 1 ? [DownloadTotals(downloads: wanted.map(\.status)).text] : []
      display?.draw(footer: footer) { columns in
        wanted.map {
          .init(
            isOver ? [$0.status.bar(columns: columns)] : $0.status.lines(columns: columns), $0.status.color)
        }
      }
      for (index, one) in wanted.enumerated() where display == nil && !StandardStreams.isQuiet {
        if one.status.state == .cached, told.insert(index).inserted {
          StandardStreams.report(one.status.text)
        }
        if let reason = one.reasonToWait, reason != reasons.updateValue(reason, forKey: index) {
          StandardStreams.complain(one.named(reason.hasPrefix("waiting") ? reason : "waiting: \(reason)"))
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

  /// Asks a person whether so many episodes are to be downloaded.
  private static func isMeant(_ wanted: [Wanted]) -> Bool {
    guard wanted.count > mostUnasked, !StandardStreams.isJSON, isatty(STDIN_FILENO) == 1,
      Terminal.errors.isTerminal
    else { return true }
    let missing = wanted.count { (try? $0.episode.attribute("state")) != TransferState.cached.name }
    if missing <= mostUnasked { return true }
    StandardStreams.write("download \(missing) episodes? [y/N] ", to: STDERR_FILENO)
    return ["y", "yes"].contains((readLine() ?? "").lowercased())
  }

  /// One of the episodes: how far it is, and whether nothing more can be known of it.
  private struct Wanted {
    let episode: MountedEpisode
    private(set) var status: TransferStatus
    private(set) var isRefused = false

    init(_ episode: MountedEpisode) { (self.episode, status) = (episode, episode.unknown) }

    init(_ episode: MountedEpisode, refusal: CommandFailure) {
      self.init(episode)
      refuse(refusal)
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

    /// Why it does not come now; nil where it comes, or has its turn still before it.
    var reasonToWait: String? { status.state == .queued ? status.error : nil }

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

    private mutating func attempt(_ body: (inout Wanted) throws -> Void) {
      if isRefused { return }
      do { try body(&self) } catch { refuse(error) }
    }

    private mutating func refuse(_ error: any Error) {
      (isRefused, status.state) = (true, .failed)
      // What an errno can't say: the attribute does.
      let why = (try? episode.attribute("error")) ?? nil
      status.error =
        why.map { "\($0) (podcastfs doctor finds out why)" }
        ?? (error as? CommandFailure)?.reason(of: episode.path) ?? "\(error)"
    }

    /// What is not known is null.
    var json: JSONValue {
      .members([
        "path": episode.path, "state": isRefused ? nil : status.state.name,
        "bytes_received": isRefused ? nil : status.received, "bytes_total": status.total,
        "error": status.error,
      ])
    }
  }
}
