internal import Catalog
internal import Configuration
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension Command {
  static let rules = Command(
    """
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
  ) { arguments in
    let isTrial = arguments.takeFlag("--try")
    let operands = try arguments.operands()
    let values = try operands.dropFirst().map(rule)
    let session = try CatalogSession()
    let podcast = try session.knownPodcast(operands[0])
    var own = try session.catalog.rules(ofPodcast: podcast)
    for (key, value) in values {
      do { try own.set(key, to: value) } catch { throw UsageError("\(error)") }
    }
    guard try session.subscription(ofPodcast: podcast) != nil else {
      throw CommandFailure("\(WebAddress(operands[0]).shown) is not followed: podcastfs subscribe")
    }
    if !isTrial { try session.catalog.setRules(values, ofPodcast: podcast) }
    let outlook = try RuleOutlook(podcast, own, session)
    StandardStreams.show(outlook.json, orText: outlook.show)
  }

  private static func rule(_ word: String) throws -> (key: SubscriptionRules.Key, value: String) {
    let name = String(word.prefix { $0 != "=" })
    guard name != word else { throw UsageError("\(PrintableText.line(word)) is not KEY=VALUE") }
    guard let key = SubscriptionRules.Key(rawValue: name) else {
      let question = SimilarWord.question(name, among: SubscriptionRules.Key.allCases.map(\.rawValue))
      throw UsageError("there is no rule \"\(PrintableText.line(name))\"\(question)")
    }
    return (key, String(word.dropFirst(name.count + 1)))
  }
}

extension SubscriptionRules {
  var json: JSONValue { .object(Key.allCases.map { ($0.rawValue, text($0).json) }) }
}

private struct RuleOutlook {
  private static let limit = 20
  private let name: String
  private let own: SubscriptionRules
  private let configured: SubscriptionRules
  private let order: SubscriptionRules.Order
  /// The newest first.
  private let lines: [Line]

  private struct Line {
    let episode: RuledEpisode
    let decision: RuleDecision
    let state: TransferState
    var facts: EpisodeFacts { episode.facts }
    var title: String { PrintableText.line(TitleText.plain(facts.title)) }
  }

  /// - Parameter own: of the subscription, stored or not.
  init(_ podcast: Int64, _ own: SubscriptionRules, _ session: CatalogSession) throws {
    guard var ruled = try session.catalog.ruledPodcast(podcast, isForPeople: true) else {
      throw CommandFailure("the podcast is not followed any more")
    }
    let statuses = try session.statuses()
    for place in ruled.episodes.indices {
      ruled.episodes[place].facts.take(statuses[ruled.episodes[place].key])
    }
    (name, self.own) = (ruled.name, own)
    configured = try session.catalog.configuredRules(ofPodcast: podcast)
    let rules = own.completed(by: configured)
    let decisions = rules.decide(ruled.episodes, isSerial: ruled.isSerial, now: session.catalog.now)
    order = rules.order(isSerial: ruled.isSerial)
    let all = zip(ruled.episodes, decisions).map { episode, decision in
      let state = episode.facts.download == .absent ? nil : statuses[episode.key]?.state
      return Line(episode: episode, decision: decision, state: state ?? .remote)
    }
    let newest = all.sorted { ($0.facts.published, $0.facts.id) > ($1.facts.published, $1.facts.id) }
    lines = Array(newest.prefix(Self.limit))
  }

  func show() {
    let rules = SubscriptionRules.Key.allCases.compactMap { key -> String? in
      if let value = own.text(key) { return "\(key.rawValue)=\(value)" }
      return configured.text(key).map { "\(key.rawValue)=\($0) (from the configuration)" }
    }
    let words = rules.isEmpty ? "no rules" : rules.joined(separator: ", ")
    StandardStreams.tell("\(PrintableText.line(name)): \(words)", hanging: 2)
    for line in lines {
      let date = CivilTime.iso8601(line.facts.published).prefix(10)
      let head = "\(ColumnText.fitted(word(line), 11))  \(date)  "
      StandardStreams.tell(head + line.title + (reason(line).map { "  \($0)" } ?? ""), hanging: head.count)
    }
    if lines.isEmpty { StandardStreams.print("no episodes are known yet: podcastfs refresh") }
  }

  private func word(_ line: Line) -> String {
    switch (line.decision, line.facts.download) {
    case (.drop, _): "drop"
    case (_, .complete): "downloaded"
    case (.download, .absent) where [.none, .wanted].contains(line.episode.mark): "download"
    case (_, .absent): "no"
    default: line.state.name
    }
  }

  private func reason(_ line: Line) -> String? {
    let isHere = line.facts.download != .absent
    switch line.decision {
    case .download:
      let isLeft = [.ordered, .byHand].contains(line.episode.mark)
      return isLeft && !isHere ? "dropped by hand, or for lack of room" : nil
    case .drop(let reason): return text(reason, line.facts)
    case .leave(let reason):
      let why = text(reason, line.facts)
      if !isHere { return why }
      if line.facts.marks.contains(.kept) { return "kept; else \(why)" }
      if line.facts.queuePlace != nil { return "queued; else \(why)" }
      return line.episode.cameByRule ? why : "by hand; else \(why)"
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
    let episodes = lines.map { line in
      let decision =
        switch line.decision {
        case .download: "download"
        case .drop: "drop"
        case .leave: "leave"
        }
      return JSONValue.members([
        "title": TitleText.plain(line.facts.title), "published": CivilTime.iso8601(line.facts.published),
        "state": line.state.name, "decision": decision, "reason": reason(line),
      ])
    }
    return .members(["name": name, "rules": own.json, "configured": configured.json, "episodes": episodes])
  }
}
