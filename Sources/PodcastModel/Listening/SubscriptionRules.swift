/// What podcastfs does by itself for the episodes of a subscription. A rule that is nil is not set.
package struct SubscriptionRules: Hashable, Sendable {
  package var autoDownload: Amount?
  package var autoOrder: Order?
  /// Words and phrases of the title; one of them must be there.
  package var include: [String]?
  /// Words and phrases of the title; none of them may be there.
  package var exclude: [String]?
  /// In seconds. An episode of unknown length passes.
  package var minDuration: Int?
  /// In seconds. An episode of unknown length passes.
  package var maxDuration: Int?
  /// Which kinds of `itunes:episodeType` pass.
  package var kinds: Set<EpisodeKind>?
  package var afterPlayed: AfterPlayed?
  /// Whether a new episode is announced on the desktop.
  package var notify: Bool?

  package init() {}

  package enum Amount: Hashable, Sendable {
    case none
    case count(Int)
    /// Those published within so many seconds.
    case age(Int64)
    case all
  }

  package enum Order: String, Hashable, Sendable {
    case newest
    /// The episodes after the one that was played last; for serials.
    case next
  }

  package enum AfterPlayed: Hashable, Sendable {
    case keep
    /// The download is dropped so many seconds after the episode was played.
    case drop(after: Int64)
  }

  /// These rules, and those of `defaults` where none is set here.
  package func completed(by defaults: SubscriptionRules) -> SubscriptionRules {
    var rules = self
    rules.autoDownload = autoDownload ?? defaults.autoDownload
    rules.autoOrder = autoOrder ?? defaults.autoOrder
    rules.include = include ?? defaults.include
    rules.exclude = exclude ?? defaults.exclude
    rules.minDuration = minDuration ?? defaults.minDuration
    rules.maxDuration = maxDuration ?? defaults.maxDuration
    rules.kinds = kinds ?? defaults.kinds
    rules.afterPlayed = afterPlayed ?? defaults.afterPlayed
    rules.notify = notify ?? defaults.notify
    return rules
  }
}

/// What an episode is, as `itunes:episodeType` says it; `full` where it says nothing.
package enum EpisodeKind: String, CaseIterable, Hashable, Sendable { case full, trailer, bonus }
