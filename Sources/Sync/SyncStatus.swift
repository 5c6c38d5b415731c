package import Catalog
package import Configuration
internal import PodcastModel

/// How synchronization stands.
package struct SyncStatus: Hashable, Sendable {
  /// When the last one that worked has ended, in seconds since 1970.
  package var last: Int64?
  /// Why the last one failed.
  package var error: String?
  /// Subscriptions and states of episodes that the server does not have yet.
  package var pending: Int

  /// - Returns: nil where this device has never synchronized and is not to.
  package init?(_ catalog: Catalog, _ settings: SyncSettings?) throws {
    let account = try catalog.syncAccount()
    if account == nil && settings == nil { return nil }
    last = account?.last
    error = account?.error
    pending = try Self.pending(catalog, uploadsAll: settings?.feeds == .all)
  }

  /// Costs what is followed and what is pending, not what is known.
  package static func pending(_ catalog: Catalog, uploadsAll: Bool) throws -> Int {
    try catalog.readSync { rows in
      let local = try rows.followedFeeds()
      let plan = SubscriptionPlan(
        local: local, common: try rows.serverFeeds(), news: SubscriptionNews(time: 0), scope: .changes,
        uploadsAll: uploadsAll)
      let keys = Set((plan.common.filter { $0.state != .refused } + plan.add).map(\.key))
      let known = Set(local.filter { !keys.isDisjoint(with: $0.keys) }.map(\.podcast))
      let episodes = try rows.pending().count {
        known.contains($0.podcast) && (uploadsAll || $0.address.withoutSecrets != nil)
      }
      return plan.add.count + plan.remove.count + episodes
    }
  }
}

extension Catalog {
  /// - Returns: nil where this device has never synchronized and is not to.
  package func syncStatus(_ settings: SyncSettings?) throws -> SyncStatus? { try SyncStatus(self, settings) }
}
