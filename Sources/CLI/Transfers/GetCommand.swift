internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

enum GetCommand: Command {
  static let name = "get"
  static let summary = "download episodes and wait for them"
  static let usage = """
    podcastfs get [--json] [--quiet] PATH…

    Downloads episodes of a mount, or all episodes directly in a directory of it, the newest first: with progress
    bars on a terminal, else with a line for each that is complete, and one for each reason to wait. Ends when all are
    complete. Where one fails the others go on, and the status is 1. Covers and the like beside the episodes are skipped.
    Ctrl-C ends the command, not the downloads.

      --json   [{"path", "state", "bytes_received", "bytes_total", "error"}], when it ends
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isJSON = arguments.takeFlag("--json")
    let paths = try arguments.operands()
    if paths.isEmpty { throw UsageError("get takes the paths of episodes") }
    let operands = MountedEpisode.all(atEach: paths)
    for (_, failure) in operands.failures { StandardStreams.complain("\(failure)") }
    var wanted = operands.episodes.map { Wanted(episode: $0) }
    for index in wanted.indices { wanted[index].order() }
    let isShown = !isJSON && !StandardStreams.isQuiet
    var display = isShown && Terminal.errors.isTerminal && !wanted.isEmpty ? LiveDisplay(.errors) : nil
    var told: Set<Int> = []
    var reasons: [Int: String] = [:]
    while true {
      for index in wanted.indices { wanted[index].look() }
      let lines = wanted.compactMap(\.line)
      display?.draw { columns in
        lines.map { .init($0.lines(columns: columns), $0.state == .failed ? .red : nil) }
      }
      for (index, one) in wanted.enumerated() where display == nil && !StandardStreams.isQuiet {
        if isShown, let line = one.line, line.state == .cached, told.insert(index).inserted {
          StandardStreams.report(line.text)
        }
        if let reason = one.reasonToWait, reason != reasons.updateValue(reason, forKey: index) {
          StandardStreams.complain("\(one.episode.path): waiting: \(reason)")
        }
      }
      if !wanted.contains(where: \.isWaitedFor) { break }
      // Attributes announce nothing: they are looked at twice a second while this command runs.
      usleep(500_000)
    }
    if isJSON {
      let refused = operands.failures.map { json($0.path, nil, error: $0.failure.reason(of: $0.path)) }
      let all = wanted.map { json($0.episode.path, $0.line, error: $0.failure ?? $0.line?.error) }
      StandardStreams.print(JSONValue.array(all + refused).indentedText)
    }
    let failures = wanted.compactMap(\.outcome)
    for failure in failures { StandardStreams.complain(failure) }
    return failures.isEmpty && operands.failures.isEmpty ? 0 : 1
  }

  /// One of the episodes: how far it is, or why nothing more can be known of it.
  private struct Wanted {
    let episode: MountedEpisode
    var line: ProgressLine?
    var failure: String?

    init(episode: MountedEpisode) { self.episode = episode }

    mutating func order() {
      attempt { one in
        let state = try one.episode.attribute("state")
        if state != TransferState.cached.name { try one.episode.set(.downloading) }
      }
    }

    mutating func look() { attempt { one in one.line = try one.episode.progress() } }

    var isWaitedFor: Bool { failure == nil && (line?.state == .queued || line?.state == .downloading) }

    /// Why it does not come now; nil where it comes, or has its turn still before it.
    var reasonToWait: String? { failure == nil && line?.state == .queued ? line?.error : nil }

    /// Why it is not here; nil where it is.
    var outcome: String? {
      if let failure { return "\(episode.path): \(failure)" }
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
    .object([
      ("path", .string(path)), ("state", .optional(line?.state.name)),
      ("bytes_received", .optional(line?.received)), ("bytes_total", .optional(line?.total)),
      ("error", .optional(error)),
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
