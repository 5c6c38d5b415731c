package import Configuration
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

package struct RuledPodcast: Sendable {
  package let id: Int64
  package let name: String
  /// With the configuration's where the subscription has none of its own.
  package let rules: SubscriptionRules
  /// Its feed says that episodes are to be heard in order.
  package let isSerial: Bool
  /// What the transfers know of them is not filled in.
  package var episodes: [RuledEpisode]
}

// The rules of subscriptions: what they are, and what they have done. Orders are given elsewhere.
extension Catalog {
  /// What the configuration file says of a podcast's feed, also under an address that it has moved away from.
  package func feedSettings(ofPodcast id: Int64) throws(CatalogError) -> FeedSettings? {
    feeds.fetcher.settings(try store.read { try PodcastRecord.keys(of: id, in: $0) })
  }

  package func rules(ofPodcast id: Int64) throws(CatalogError) -> SubscriptionRules {
    try store.read { try RuleRows.rules(ofPodcast: id, in: $0) }
  }

  /// The rules that hold for a subscription: its own, else the configuration's for its feed, else those for all.
  package func effectiveRules(ofPodcast id: Int64) throws(CatalogError) -> SubscriptionRules {
    try rules(ofPodcast: id).completed(by: configuredRules(ofPodcast: id))
  }

  package func configuredRules(ofPodcast id: Int64) throws(CatalogError) -> SubscriptionRules {
    let own = try feedSettings(ofPodcast: id)?.rules ?? SubscriptionRules()
    return own.completed(by: settings.rules)
  }

  /// Sets rules of a subscription; an empty value removes one. All of them are set, or none.
  /// - Throws: EINVAL for a value that cannot be, ENOENT where the podcast is not followed.
  package func setRules(
    _ values: [(key: SubscriptionRules.Key, value: String)], ofPodcast id: Int64
  ) throws(CatalogError) {
    try store.change { database, changes in
      let subscription = try existing(
        "subscription", database.number("SELECT id FROM subscription WHERE podcast_id = ?", id))
      let old = try RuleRows.rules(ofPodcast: id, in: database)
      var rules = old
      for (key, value) in values {
        do { try rules.set(key, to: value) } catch { throw CatalogError(.EINVAL, "\(error)") }
      }
      if rules == old { return }
      try RuleRows.set(rules, ofPodcast: id, in: database)
      changes.append(.subscription(subscription, podcast: id))
    }
  }

  /// - Parameter isForPeople: also where its rules neither download nor drop anything.
  /// - Returns: nil where the podcast is not followed, and where there is nothing to decide.
  package func ruledPodcast(_ id: Int64, isForPeople: Bool = false) throws(CatalogError) -> RuledPodcast? {
    let rules = try effectiveRules(ofPodcast: id)
    if rules.areIdle && !isForPeople { return nil }
    return try store.read { database in
      guard
        let (name, title) = try database.first(
          "SELECT s.name, p.title FROM subscription s JOIN podcast p ON p.id = s.podcast_id WHERE p.id = ?",
          id, as: { ($0.string(0), $0.string(1)) })
      else { return nil }
      return RuledPodcast(
        id: id, name: name, rules: rules,
        isSerial: try PodcastRecord.load(id, in: database)?.isSerial == true,
        episodes: try RuleRows.episodes(ofPodcast: id, show: title, in: database))
    }
  }

  /// Notes what the rules have done for an episode; not where somebody has taken it in hand meanwhile, or its podcast is
  /// followed no longer.
  package func setRuleMark(_ mark: RuleMark, episode: Int64) throws(CatalogError) {
    try store.write(waitsForDisk: false) { database in
      try database.run(
        """
        UPDATE episode SET ruled = ? WHERE id = ? AND ruled <> ?
          AND EXISTS (SELECT 1 FROM podcast WHERE id = ? AND is_followed = 1)
        """, mark.rawValue, episode, RuleMark.byHand.rawValue, EpisodeID.podcast(of: episode))
    }
  }

  /// Somebody has opened, marked or ordered an episode: from then on the rules leave its download alone.
  package func noteByHand(episode: Int64) throws(CatalogError) {
    let isRuled = try store.read {
      try $0.exists("SELECT 1 FROM episode WHERE id = ? AND ruled IN (1, 2)", episode)
    }
    if isRuled { try setRuleMark(.byHand, episode: episode) }
  }

  package var now: Int64 { store.now }
}

enum RuleRows {
  static func rules(ofPodcast id: Int64, in database: Database) throws -> SubscriptionRules {
    let bytes = try database.first("SELECT rules FROM subscription WHERE podcast_id = ?", id) { $0.blob(0) }
    // A damaged file says anything.
    return (try? SubscriptionRules(decoding: (bytes ?? [])[...])) ?? SubscriptionRules()
  }

  static func set(_ rules: SubscriptionRules, ofPodcast id: Int64, in database: Database) throws {
    try database.run("UPDATE subscription SET rules = ? WHERE podcast_id = ?", rules.encoded, id)
  }

  /// The next subscription to the podcast begins anew.
  static func removeMarks(ofPodcast id: Int64, in database: Database) throws {
    try database.run(
      "UPDATE episode SET ruled = 0 WHERE id BETWEEN ? AND ? AND ruled <> 0", EpisodeID.first(ofPodcast: id),
      EpisodeID.last(ofPodcast: id))
  }

  /// Those whose address still is their own.
  static func episodes(ofPodcast id: Int64, show: String, in database: Database) throws -> [RuledEpisode] {
    let places = try PlayQueue(in: database).places
    let records = try EpisodeRows.all(ofPodcast: id, in: database) as [EpisodeRecord]
    return records.filter { !$0.isReplaced }.map { known in
      var facts = EpisodeFacts(id: known.id, title: known.title, show: show, published: known.published)
      (facts.duration, facts.queuePlace, facts.marks) = (known.duration, places[known.id], .followed)
      if known.listening.position > 0 { facts.marks.insert(.begun) }
      if known.hidden { facts.marks.insert(.hidden) }
      if known.listening.isPlayed { facts.marks.insert(.played) }
      var episode = RuledEpisode(facts, key: known.mediaKey)
      episode.kind = known.type.flatMap { EpisodeKind(rawValue: $0.lowercased()) } ?? .full
      episode.lastPlayed = known.listening.lastPlayed
      episode.mark = RuleMark(rawValue: known.ruled) ?? .byHand
      return episode
    }
  }
}
