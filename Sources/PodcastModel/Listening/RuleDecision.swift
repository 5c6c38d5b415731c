/// What the rules of a subscription want for one of its episodes.
package enum RuleDecision: Hashable, Sendable {
  case download
  case drop(Reason)
  case leave(Reason)

  /// Why an episode is not downloaded by rule.
  package enum Reason: Hashable, Sendable {
    case noRule, isHidden, isPlayed
    case includesNone
    case excludes(String)
    case isTooShort, isTooLong
    case isOfKind(EpisodeKind)
    /// More episodes pass than the rule's number.
    case isBeyondCount(Int)
    case isTooOld(Int64)
    /// It comes before the episode that was played last.
    case isBeforeLastPlayed
    case playedAgo(Int64)
  }
}

/// An episode of a subscription, as its rules look at it.
package struct RuledEpisode: Hashable, Sendable {
  package var facts: EpisodeFacts
  package var key: MediaKey
  package var kind = EpisodeKind.full
  /// When it was played last, in seconds since 1970; nil where never.
  package var lastPlayed: Int64?
  package var mark = RuleMark.none

  package init(_ facts: EpisodeFacts, key: MediaKey) {
    (self.facts, self.key) = (facts, key)
  }

  /// The rules ordered its download, and nobody has opened, marked or ordered it by hand since.
  package var cameByRule: Bool { mark == .wanted || mark == .ordered }
}

/// What the rules of a subscription have done for an episode. The catalogue keeps it.
package enum RuleMark: Int, Sendable {
  case none
  /// The rules want the download; the transfers have not confirmed the order.
  case wanted
  case ordered
  /// Somebody opened, marked or ordered the episode by hand: the rules neither drop nor order it.
  case byHand
}

extension SubscriptionRules {
  /// - Parameters:
  ///   - episodes: in any order.
  ///   - isSerial: `itunes:type` of the feed is "serial": the order is then `next` where no rule says otherwise.
  ///   - now: seconds since 1970.
  /// - Returns: one decision for each episode, in the order given.
  package func decide(_ episodes: [RuledEpisode], isSerial: Bool, now: Int64) -> [RuleDecision] {
    var refusals: [Int64: RuleDecision.Reason] = [:]
    let order = order(isSerial: isSerial)
    let sorted = episodes.sorted { ($0.facts.published, $0.facts.id) < ($1.facts.published, $1.facts.id) }
    var start = sorted.startIndex
    if order == .next, let played = sorted.compactMap(\.lastPlayed).max(),
      let last = sorted.lastIndex(where: { $0.lastPlayed == played })
    {
      start = sorted[last].facts.marks.contains(.played) ? last + 1 : last
    }
    for episode in sorted[..<start] { refusals[episode.facts.id] = .isBeforeLastPlayed }
    let candidates = order == .next ? Array(sorted[start...]) : sorted.reversed()
    var count = 0
    for episode in candidates {
      let reason = refusal(of: episode) ?? amountRefusal(of: episode, counted: count, now: now)
      if let reason { refusals[episode.facts.id] = reason }
      // A played episode among the newest keeps its place: playing does not bring older ones.
      let holdsPlace = reason == nil || (order == .newest && reason == .isPlayed && passesFilters(episode))
      if holdsPlace { count += 1 }
    }
    return episodes.map { decision(on: $0, refusals[$0.facts.id], now: now) }
  }

  package func order(isSerial: Bool) -> Order { autoOrder ?? (isSerial ? .next : .newest) }

  private func decision(
    on episode: RuledEpisode, _ reason: RuleDecision.Reason?, now: Int64
  ) -> RuleDecision {
    let facts = episode.facts
    guard let reason else { return .download }
    guard facts.download != .absent, !facts.marks.contains(.kept), facts.queuePlace == nil else {
      return .leave(reason)
    }
    if let due = dropTime(of: episode), due <= now, let played = episode.lastPlayed {
      return .drop(.playedAgo(now - played))
    }
    if episode.cameByRule, reason != .isPlayed, reason != .noRule { return .drop(reason) }
    return .leave(reason)
  }

  /// When `after_played` drops the download; nil where it does not. Who plays an episode again still needs it.
  private func dropTime(of episode: RuledEpisode) -> Int64? {
    guard case .drop(let delay) = afterPlayed, episode.facts.marks.contains(.played),
      !episode.facts.marks.contains(.begun)
    else { return nil }
    return episode.lastPlayed.map { $0 + delay }
  }

  /// When the clock alone will change a decision: the next such moment after `now`, in seconds since 1970.
  package func nextChange(of episodes: [RuledEpisode], after now: Int64) -> Int64? {
    var moments: [Int64] = []
    for episode in episodes where episode.facts.download != .absent {
      if let due = dropTime(of: episode) { moments.append(due) }
      if case .age(let seconds) = autoDownload, episode.cameByRule {
        moments.append(episode.facts.published + seconds + 1)
      }
    }
    return moments.filter { $0 > now }.min()
  }

  package var areIdle: Bool { autoDownload ?? Amount.none == Amount.none && afterPlayed ?? .keep == .keep }

  private func refusal(of episode: RuledEpisode) -> RuleDecision.Reason? {
    let facts = episode.facts
    if facts.marks.contains(.hidden) { return .isHidden }
    if let phrase = exclude?.first(where: { WordMatch.contains($0, in: facts.title) }) {
      return .excludes(phrase)
    }
    if let include, !include.contains(where: { WordMatch.contains($0, in: facts.title) }) {
      return .includesNone
    }
    if let kinds, !kinds.contains(episode.kind) { return .isOfKind(episode.kind) }
    if let minDuration, let duration = facts.duration, duration < minDuration { return .isTooShort }
    if let maxDuration, let duration = facts.duration, duration > maxDuration { return .isTooLong }
    return facts.marks.contains(.played) ? .isPlayed : nil
  }

  private func passesFilters(_ episode: RuledEpisode) -> Bool {
    var unplayed = episode
    unplayed.facts.marks.remove(.played)
    return refusal(of: unplayed) == nil
  }

  private func amountRefusal(of episode: RuledEpisode, counted: Int, now: Int64) -> RuleDecision.Reason? {
    switch autoDownload ?? .none {
    case .none: .noRule
    case .count(let limit): counted < limit ? nil : .isBeyondCount(limit)
    case .age(let seconds): episode.facts.published >= now - seconds ? nil : .isTooOld(seconds)
    case .all: nil
    }
  }
}
