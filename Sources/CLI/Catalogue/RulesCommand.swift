internal import Catalog
internal import Configuration
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

enum RulesCommand: Command {
  static let name = "rules"
  static let summary = "show and set what is downloaded automatically"
  static let usage = """
    podcastfs rules [--try] [--json] PODCAST [KEY=VALUE…]

    Shows or sets the rules of a subscription, and what they do with its newest twenty episodes, and why. KEY= removes a rule.
    PODCAST is a folder, a title or a feed's address.

      auto_download=N     the newest N; Nd: those of N days; all; 0: none
      auto_order=next     N counts from the episode played last; or newest
      include=WORDS       the title must have one of these words or "phrases"
      exclude=WORDS       the title must have none of them
      min_duration=10m    leaves out shorter ones; max_duration: longer ones
      kinds=KINDS         of full, trailer, bonus
      after_played=drop   drops what was played; drop:2d: two days later; keep
      notify=1            announces new episodes; 0: announces nothing
      --try               sets nothing, shows what would happen
      --json              {"name", "rules": {}, "configured": {}, "episodes": [{"title", "published", "state", "decision",
                          "reason"}]}
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isTrial = arguments.takeFlag("--try")
    let isJSON = arguments.takeFlag("--json")
    let operands = try arguments.operands()
    guard let name = operands.first else { throw UsageError("rules takes the name of a podcast") }
    let values = try operands.dropFirst().map(pair)
    let session = try CatalogSession()
    defer { session.settle() }
    let podcast = try session.knownPodcast(name)
    let own = try changed(try session.catalog.rules(ofPodcast: podcast), by: values)
    guard try session.catalog.subscriptions().contains(where: { $0.podcast.id == podcast }) else {
      throw CommandFailure("\(WebAddress(name).shown) is not followed: podcastfs subscribe")
    }
    if !isTrial { try session.catalog.setRules(values, ofPodcast: podcast) }
    let outlook = try RuleOutlook(podcast, own, session)
    if isJSON {
      StandardStreams.print(outlook.json.indentedText)
    } else {
      outlook.show()
    }
    return 0
  }

  private static func pair(_ word: String) throws -> (key: SubscriptionRules.Key, value: String) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { throw UsageError("\(PrintableText.line(word)) is not KEY=VALUE") }
    guard let key = SubscriptionRules.Key(rawValue: parts[0]) else {
      let keys = SubscriptionRules.Key.allCases.map(\.rawValue)
      let question = SimilarWord.question(parts[0], among: keys)
      throw UsageError("there is no rule \"\(PrintableText.line(parts[0]))\"\(question)")
    }
    return (key, parts[1])
  }

  private static func changed(
    _ rules: SubscriptionRules, by values: [(key: SubscriptionRules.Key, value: String)]
  ) throws -> SubscriptionRules {
    var rules = rules
    for (key, value) in values {
      do { try rules.set(key, to: value) } catch { throw UsageError("\(error)") }
    }
    return rules
  }
}

extension SubscriptionRules {
  var json: JSONValue { .object(Key.allCases.map { ($0.rawValue, text($0).json) }) }
}

/// What rules want for the newest episodes of a subscription.
private struct RuleOutlook {
  private struct Line {
    var episode: RuledEpisode
    var decision: RuleDecision
  }

  private static let limit = 20

  private let name: String
  private let own: SubscriptionRules
  private let configured: SubscriptionRules
  private let order: SubscriptionRules.Order
  /// The newest first.
  private let lines: [Line]
  private let count: Int

  /// - Parameter own: of the subscription, stored or not.
  init(_ podcast: Int64, _ own: SubscriptionRules, _ session: CatalogSession) throws {
    guard var ruled = try session.catalog.ruledPodcast(podcast, isForPeople: true) else {
      throw CommandFailure("the podcast is not followed any more")
    }
    let statuses = try session.statuses()
    for place in ruled.episodes.indices { ruled.episodes[place].take(statuses[ruled.episodes[place].key]) }
    let configured = try session.catalog.configuredRules(ofPodcast: podcast)
    let rules = own.completed(by: configured)
    let decisions = rules.decide(ruled.episodes, isSerial: ruled.isSerial, now: session.catalog.now)
    (name, self.own, self.configured) = (ruled.name, own, configured)
    order = rules.order(isSerial: ruled.isSerial)
    count = ruled.episodes.count
    lines = Array(
      zip(ruled.episodes, decisions).map { Line(episode: $0, decision: $1) }
        .sorted {
          ($0.episode.facts.published, $0.episode.facts.id) > (
            $1.episode.facts.published, $1.episode.facts.id
          )
        }.prefix(Self.limit))
  }

  func show() {
    StandardStreams.tell("\(PrintableText.line(name)): \(rulesText)", hanging: 2)
    for line in lines {
      let date = CivilTime.iso8601(line.episode.facts.published).prefix(10)
      let title = PrintableText.line(TitleText.plain(line.episode.facts.title))
      let head = "\(ColumnText.fitted(word(line), 11))  \(date)  "
      StandardStreams.tell(head + title + (reason(line).map { "  \($0)" } ?? ""), hanging: head.count)
    }
    if lines.isEmpty { StandardStreams.print("no episodes are known yet: podcastfs refresh") }
  }

  private var rulesText: String {
    let texts = SubscriptionRules.Key.allCases.compactMap { key -> String? in
      if let value = own.text(key) { return "\(key.rawValue)=\(value)" }
      return configured.text(key).map { "\(key.rawValue)=\($0) (from the configuration)" }
    }
    return texts.isEmpty ? "no rules" : texts.joined(separator: ", ")
  }

  private func isHere(_ line: Line) -> Bool { line.episode.facts.download != .absent }

  private func word(_ line: Line) -> String {
    switch (line.decision, line.episode.facts.download) {
    case (.download, .complete), (.leave, .complete): "downloaded"
    case (.download, .running), (.leave, .running): "downloading"
    case (.download, .paused), (.leave, .paused): "paused"
    case (.download, .failed), (.leave, .failed): "failed"
    case (.drop, _): "drop"
    case (.download, .absent): line.episode.mark == .none || line.episode.mark == .wanted ? "download" : "no"
    case (.leave, .absent): "no"
    }
  }

  private func reason(_ line: Line) -> String? {
    switch line.decision {
    case .download:
      let isLeft = line.episode.mark == .ordered || line.episode.mark == .byHand
      return isLeft && !isHere(line) ? "dropped by hand, or for lack of room" : nil
    case .drop(let reason): return text(reason, line)
    case .leave(let reason):
      let why = text(reason, line)
      if !isHere(line) { return why }
      if line.episode.facts.marks.contains(.kept) { return "kept; else \(why)" }
      if line.episode.facts.queuePlace != nil { return "queued; else \(why)" }
      return line.episode.cameByRule ? why : "by hand; else \(why)"
    }
  }

  private func text(_ reason: RuleDecision.Reason, _ line: Line) -> String {
    switch reason {
    case .noRule: "no rule downloads it"
    case .isHidden: "hidden"
    case .isPlayed: "played"
    case .includesNone: "the title has no word of include"
    case .excludes(let phrase): "the title has \"\(PrintableText.line(phrase))\""
    case .isTooShort, .isTooLong:
      "\(reason == .isTooShort ? "shorter" : "longer") than the rule: "
        + HumanText.duration(Int64(line.episode.facts.duration ?? 0))
    case .isOfKind(let kind): "of the kind \(kind.rawValue)"
    case .isBeyondCount(let count):
      order == .next ? "beyond the next \(count)" : "not among the newest \(count)"
    case .isTooOld(let seconds): "older than \(AgeText.text(seconds))"
    case .isBeforeLastPlayed: "before the one played last"
    case .playedAgo(let seconds): "played \(HumanText.ago(seconds))"
    }
  }

  var json: JSONValue {
    return .members([
      "name": name, "rules": own.json, "configured": configured.json,
      "episodes": lines.map { line in
        JSONValue.members([
          "title": TitleText.plain(line.episode.facts.title),
          "published": CivilTime.iso8601(line.episode.facts.published),
          "state": Self.states[line.episode.facts.download]?.name,
          "decision": decision(line), "reason": reason(line),
        ])
      },
    ])
  }

  private static let states: [DownloadStage: TransferState] = [
    .absent: .remote, .running: .downloading, .paused: .paused, .failed: .failed, .complete: .cached,
  ]

  private func decision(_ line: Line) -> String {
    switch line.decision {
    case .download: "download"
    case .drop: "drop"
    case .leave: "leave"
    }
  }
}

enum UnhideCommand: Command {
  static let name = "unhide"
  static let summary = "show removed episodes again"
  static let usage = """
    podcastfs unhide [--json] PODCAST…

    Shows all episodes again that were removed from a subscription. PODCAST is a folder, a title or a feed's address.

      --json  a line for each: {"podcast", "shown"}
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let names = try arguments.operands(1..., "unhide takes the name of a podcast")
    let session = try CatalogSession()
    defer { session.settle() }
    return names.forEachReporting { name in
      let podcast = try session.knownPodcast(name)
      let listed = try session.catalog.subscriptions().first { $0.podcast.id == podcast }
      try session.catalog.restoreHidden(podcast: podcast)
      let (name, count) = (listed?.name ?? name, listed?.hiddenCount ?? 0)
      if isJSON {
        StandardStreams.print(
          JSONValue.members(["podcast": name, "shown": count]).compactText)
      } else {
        StandardStreams.report("\(name): \(HumanText.count(count, "episode")) shown again")
      }
    }
  }
}
