internal import Catalog
internal import Configuration
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

enum RulesCommand: Command {
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
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let isTrial = arguments.takeFlag("--try")
    let operands = try arguments.operands()
    let name = operands[0]
    let values = try operands.dropFirst().map(pair)
    let session = try CatalogSession()
    defer { session.settle() }
    let podcast = try session.knownPodcast(name)
    var own = try session.catalog.rules(ofPodcast: podcast)
    for (key, value) in values {
      do { try own.set(key, to: value) } catch { throw UsageError("\(error)") }
    }
    guard try session.catalog.subscriptions().contains(where: { $0.podcast.id == podcast }) else {
      throw CommandFailure("\(WebAddress(name).shown) is not followed: podcastfs subscribe")
    }
    if !isTrial { try session.catalog.setRules(values, ofPodcast: podcast) }
    let outlook = try RuleOutlook(podcast, own, session)
    StandardStreams.show(outlook.json, orText: outlook.show)
  }

  private static func pair(_ word: String) throws -> (key: SubscriptionRules.Key, value: String) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { throw UsageError("\(PrintableText.line(word)) is not KEY=VALUE") }
    guard let key = SubscriptionRules.Key(rawValue: parts[0]) else {
      let question = SimilarWord.question(parts[0], among: SubscriptionRules.Key.allCases.map(\.rawValue))
      throw UsageError("there is no rule \"\(PrintableText.line(parts[0]))\"\(question)")
    }
    return (key, parts[1])
  }
}

extension SubscriptionRules {
  var json: JSONValue { .object(Key.allCases.map { ($0.rawValue, text($0).json) }) }
}

/// What rules want for the newest episodes of a subscription.
private struct RuleOutlook {
  private static let limit = 20

  private let name: String
  private let own: SubscriptionRules
  private let configured: SubscriptionRules
  private let order: SubscriptionRules.Order
  /// The newest first.
  private let lines: [(episode: RuledEpisode, verdict: RuleDecision)]

  /// - Parameter own: of the subscription, stored or not.
  init(_ podcast: Int64, _ own: SubscriptionRules, _ session: CatalogSession) throws {
    guard var ruled = try session.catalog.ruledPodcast(podcast, isForPeople: true) else {
      throw CommandFailure("the podcast is not followed any more")
    }
    let statuses = try session.statuses()
    for place in ruled.episodes.indices { ruled.episodes[place].take(statuses[ruled.episodes[place].key]) }
    (name, self.own) = (ruled.name, own)
    configured = try session.catalog.configuredRules(ofPodcast: podcast)
    let rules = own.completed(by: configured)
    let decisions = rules.decide(ruled.episodes, isSerial: ruled.isSerial, now: session.catalog.now)
    order = rules.order(isSerial: ruled.isSerial)
    let newest = zip(ruled.episodes, decisions).sorted { first, second in
      (first.0.facts.published, first.0.facts.id) > (second.0.facts.published, second.0.facts.id)
    }
    lines = newest.prefix(Self.limit).map { ($0, $1) }
  }

  func show() {
    let rules = SubscriptionRules.Key.allCases.compactMap { key -> String? in
      if let value = own.text(key) { return "\(key.rawValue)=\(value)" }
      return configured.text(key).map { "\(key.rawValue)=\($0) (from the configuration)" }
    }
    let words = rules.isEmpty ? "no rules" : rules.joined(separator: ", ")
    StandardStreams.tell("\(PrintableText.line(name)): \(words)", hanging: 2)
    for (episode, verdict) in lines {
      let facts = episode.facts
      let title = PrintableText.line(TitleText.plain(facts.title))
      let date = CivilTime.iso8601(facts.published).prefix(10)
      let head = "\(ColumnText.fitted(word(episode, verdict), 11))  \(date)  "
      StandardStreams.tell(
        head + title + (reason(episode, verdict).map { "  \($0)" } ?? ""), hanging: head.count)
    }
    if lines.isEmpty { StandardStreams.print("no episodes are known yet: podcastfs refresh") }
  }

  private func word(_ episode: RuledEpisode, _ verdict: RuleDecision) -> String {
    switch (verdict, episode.facts.download) {
    case (.drop, _): "drop"
    case (_, .complete): "downloaded"
    case (.download, .absent) where episode.mark == .none || episode.mark == .wanted: "download"
    case (_, .absent): "no"
    case (_, let stage): Self.state(stage).name
    }
  }

  private func reason(_ episode: RuledEpisode, _ verdict: RuleDecision) -> String? {
    let facts = episode.facts
    let isHere = facts.download != .absent
    switch verdict {
    case .download:
      let isLeft = episode.mark == .ordered || episode.mark == .byHand
      return isLeft && !isHere ? "dropped by hand, or for lack of room" : nil
    case .drop(let reason): return text(reason, facts)
    case .leave(let reason):
      let why = text(reason, facts)
      if !isHere { return why }
      if facts.marks.contains(.kept) { return "kept; else \(why)" }
      if facts.queuePlace != nil { return "queued; else \(why)" }
      return episode.cameByRule ? why : "by hand; else \(why)"
    }
  }

  private func text(_ reason: RuleDecision.Reason, _ facts: EpisodeFacts) -> String {
    let duration = HumanText.duration(Int64(facts.duration ?? 0))
    return switch reason {
    case .noRule: "no rule downloads it"
    case .isHidden: "hidden"
    case .isPlayed: "played"
    case .includesNone: "the title has no word of include"
    case .excludes(let phrase): "the title has \"\(PrintableText.line(phrase))\""
    case .isTooShort: "shorter than the rule: \(duration)"
    case .isTooLong: "longer than the rule: \(duration)"
    case .isOfKind(let kind): "of the kind \(kind.rawValue)"
    case .isBeyondCount(let count):
      order == .next ? "beyond the next \(count)" : "not among the newest \(count)"
    case .isTooOld(let seconds): "older than \(AgeText.text(seconds))"
    case .isBeforeLastPlayed: "before the one played last"
    case .playedAgo(let seconds): "played \(HumanText.ago(seconds))"
    }
  }

  var json: JSONValue {
    .members([
      "name": name, "rules": own.json, "configured": configured.json,
      "episodes": lines.map { episode, verdict in
        JSONValue.members([
          "title": TitleText.plain(episode.facts.title),
          "published": CivilTime.iso8601(episode.facts.published),
          "state": Self.state(episode.facts.download).name,
          "decision": Self.name(verdict), "reason": reason(episode, verdict),
        ])
      },
    ])
  }

  private static func state(_ stage: DownloadStage) -> TransferState {
    switch stage {
    case .absent: .remote
    case .running: .downloading
    case .paused: .paused
    case .failed: .failed
    case .complete: .cached
    }
  }

  private static func name(_ verdict: RuleDecision) -> String {
    switch verdict {
    case .download: "download"
    case .drop: "drop"
    case .leave: "leave"
    }
  }
}

enum UnhideCommand: Command {
  static let usage = """
    podcastfs unhide [--json] PODCAST…

    Shows all episodes again that were removed from a subscription. PODCAST is a folder, a title or a feed's address.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    var documents: [JSONValue] = []
    let end = Result {
      try CatalogSession.forEach(arguments) { name, session in
        let podcast = try session.knownPodcast(name)
        let listed = try session.catalog.subscriptions().first { $0.podcast.id == podcast }
        try session.catalog.restoreHidden(podcast: podcast)
        let (name, count) = (listed?.name ?? name, listed?.hiddenCount ?? 0)
        documents.append(.members(["podcast": name, "shown": count]))
        StandardStreams.report("\(name): \(HumanText.count(count, "episode")) shown again")
      }
    }
    StandardStreams.show(.array(documents)) {}
    try end.get()
  }
}
