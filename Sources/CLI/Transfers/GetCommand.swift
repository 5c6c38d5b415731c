internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

enum GetCommand: Command {
  static let name = "get"
  static let summary = "download episodes and wait for them"
  static let usage = """
    podcastfs get [--newest N] [--since AGE|DATE] [--queue] [--json] [--quiet] PATH…

    Downloads episodes and waits for them. PATH is an episode, a folder (the episodes directly in it, the newest first), or the
    name of a subscription. Where one fails the others continue, and the status is 1. Ctrl-C ends the command, not the
    downloads. Above 20 episodes it asks first on a terminal.

      --newest N    the newest N of each podcast
      --since WHEN  published since then: an age like 7d, or a date like 2026-01-31
      --queue       does not wait
      --json        [{"path", "state", "bytes_received", "bytes_total", "error"}], at the end
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let isQueued = arguments.takeFlag("--queue")
    let newest = try arguments.takeNumber("--newest", in: 1...100_000)
    let since = try arguments.takeValue("--since").map(moment)
    let paths = try arguments.paths(1..., "get takes the paths of episodes")
    let choice = MountedEpisode.Choice(newest: newest, since: since)
    let operands = MountedEpisode.all(atEach: paths, choice)
    for (_, failure) in operands.failures { StandardStreams.complain("\(failure)") }
    var wanted = operands.episodes.map { Wanted(episode: $0) }
    if !isJSON {
      if wanted.isEmpty, operands.failures.isEmpty { StandardStreams.report("no episodes to download") }
      if try !isMeant(wanted) { return 1 }
    }
    for index in wanted.indices { wanted[index].order() }
    let isShown = !isJSON && !StandardStreams.isQuiet
    if isQueued {
      for index in wanted.indices { wanted[index].look() }
      if isShown, !wanted.isEmpty { StandardStreams.report(states(wanted.compactMap(\.line))) }
    } else if !wait(&wanted, isShown: isShown), isShown, wanted.count > 1 {
      StandardStreams.report(DownloadTotals(wanted.compactMap(\.line)).text)
    }
    if isJSON { printJSON(wanted, operands) }
    let failures = wanted.compactMap { isQueued ? $0.refusal : $0.outcome }
    for failure in failures { StandardStreams.complain(failure) }
    return failures.isEmpty && operands.failures.isEmpty ? 0 : 1
  }

  /// Waits until none can come any more.
  /// - Returns: whether a terminal has shown how far they are.
  private static func wait(_ wanted: inout [Wanted], isShown: Bool) -> Bool {
    var display = isShown && Terminal.errors.isTerminal && !wanted.isEmpty ? LiveDisplay(.errors) : nil
    var told: Set<Int> = []
    var reasons: [Int: String] = [:]
    while true {
      for index in wanted.indices { wanted[index].look() }
      let lines = wanted.compactMap(\.line)
      // Errors at the end say the reasons.
      let isOver = !wanted.contains(where: \.isWaitedFor)
      display?.draw(footer: wanted.count > 1 ? [DownloadTotals(lines).text] : []) { columns in
        lines.map { .init(isOver ? [$0.bar(columns: columns)] : $0.lines(columns: columns), $0.color) }
      }
      for (index, one) in wanted.enumerated() where display == nil && !StandardStreams.isQuiet {
        if isShown, let line = one.line, line.state == .cached, told.insert(index).inserted {
          StandardStreams.report(line.text)
        }
        if let reason = one.reasonToWait, reason != reasons.updateValue(reason, forKey: index) {
          StandardStreams.complain(
            "\(one.episode.path): \(reason.hasPrefix("waiting") ? "" : "waiting: ")\(reason)")
        }
      }
      if isOver { return display != nil }
      // Attributes announce nothing: they are looked at twice a second while this command runs.
      usleep(500_000)
    }
  }

  private static func printJSON(_ wanted: [Wanted], _ operands: MountedEpisode.Operands) {
    let refused = operands.failures.map { json($0.path, nil, error: $0.failure.reason(of: $0.path)) }
    let all = wanted.map { json($0.episode.path, $0.line, error: $0.failure ?? $0.line?.error) }
    StandardStreams.print(JSONValue.array(all + refused).indentedText)
  }

  /// "12 queued, 2 downloading, 1 downloaded".
  private static func states(_ lines: [ProgressLine]) -> String {
    let states: [TransferState] = [.queued, .downloading, .paused, .failed, .remote, .cached]
    return states.compactMap { state in
      let count = lines.count { $0.state == state }
      return count > 0 ? "\(count) \(state == .cached ? "downloaded" : state.name)" : nil
    }.joined(separator: ", ")
  }

  /// - Returns: seconds since 1970.
  private static func moment(_ text: String) throws -> Int64 {
    if let age = AgeText.seconds(text) { return wallClockSeconds() - age }
    if let day = DateText.day(text) { return day }
    throw UsageError("--since takes an age like 7d or a date like 2026-01-31, not \"\(text)\"")
  }

  private static let mostUnasked = 20

  /// Asks a person whether so many episodes are to be downloaded.
  private static func isMeant(_ wanted: [Wanted]) throws -> Bool {
    guard wanted.count > mostUnasked, isatty(STDIN_FILENO) == 1, Terminal.errors.isTerminal else {
      return true
    }
    var missing = wanted
    for index in missing.indices { missing[index].look() }
    missing.removeAll { $0.line?.state == .cached }
    if missing.count <= mostUnasked { return true }
    let bytes = missing.reduce(Int64(0)) { $0 + (($1.line?.total ?? 0) - ($1.line?.received ?? 0)) }
    let size = bytes > 0 ? " (\(HumanText.size(bytes)))" : ""
    StandardStreams.write("download \(missing.count) episodes\(size)? [y/N] ", to: STDERR_FILENO)
    return ["y", "yes"].contains((readLine() ?? "").lowercased())
  }

  /// One of the episodes: how far it is, or why nothing more can be known of it.
  private struct Wanted {
    let episode: MountedEpisode
    var line: ProgressLine?
    var failure: String?

    init(episode: MountedEpisode) { self.episode = episode }

    mutating func order() {
      attempt { one in
        let isComplete = try one.episode.attribute("state") == TransferState.cached.name
        // The order keeps a complete download from rules; the command succeeds without it.
        do { try one.episode.set(.downloading) } catch { if !isComplete { throw error } }
      }
    }

    mutating func look() { attempt { one in one.line = try one.episode.progress() } }

    var isWaitedFor: Bool { failure == nil && (line?.state == .queued || line?.state == .downloading) }

    /// Why it does not come now; nil where it comes, or has its turn still before it.
    var reasonToWait: String? { failure == nil && line?.state == .queued ? line?.error : nil }

    /// Why it could not be ordered; nil where it was.
    var refusal: String? { failure.map { "\(episode.path): \($0)" } }

    /// Why it is not here; nil where it is.
    var outcome: String? {
      if let refusal { return refusal }
      guard let line, line.state != .cached else { return nil }
      return "\(episode.path): " + (line.error ?? word(line.state))
    }

    private mutating func attempt(_ body: (inout Wanted) throws -> Void) {
      if failure != nil { return }
      do { try body(&self) } catch {
        // What an errno can't say: the attribute does.
        let why = (try? episode.attribute("error")) ?? nil
        failure =
          why.map { "\($0) (podcastfs doctor finds out why)" }
          ?? (error as? CommandFailure)?.reason(of: episode.path) ?? "\(error)"
      }
    }
  }

  /// What is not known of it is null.
  private static func json(_ path: String, _ line: ProgressLine?, error: String?) -> JSONValue {
    .members([
      "path": path, "state": line?.state.name, "bytes_received": line?.received, "bytes_total": line?.total,
      "error": error,
    ])
  }

  private static func word(_ state: TransferState) -> String {
    switch state {
    case .paused: "it was paused"
    case .remote: "it was cancelled"
    default: "it is \(state.name)"
    }
  }
}

/// How far several downloads are together, in one line.
struct DownloadTotals {
  private let lines: [ProgressLine]

  init(_ lines: [ProgressLine]) { self.lines = lines }

  /// "3 of 12 downloaded, 120 MiB of 1.2 GiB, 2.1 MiB/s, 9:12 left".
  var text: String {
    let complete = lines.count { $0.state == .cached }
    let received = lines.reduce(Int64(0)) { $0 + $1.received }
    let total = lines.reduce(Int64(0)) { $0 + ($1.total ?? $1.received) }
    var words = ["\(complete) of \(HumanText.count(lines.count, "episode")) downloaded"]
    words.append(
      received < total ? "\(HumanText.size(received)) of \(HumanText.size(total))" : HumanText.size(received))
    return (words + pace).joined(separator: ", ")
  }

  /// The rate of those that run and the time that all take, as far as both are known.
  var pace: [String] {
    let rate = lines.reduce(Int64(0)) { $0 + ($1.state == .downloading ? $1.rate ?? 0 : 0) }
    guard rate > 0 else { return [] }
    let seconds = lines.reduce(Int64(0)) { $0 + max(($1.total ?? $1.received) - $1.received, 0) } / rate
    let isShort = seconds > 0 && seconds <= 86_400
    return ["\(HumanText.size(rate))/s"] + (isShort ? ["\(HumanText.duration(seconds)) left"] : [])
  }
}
