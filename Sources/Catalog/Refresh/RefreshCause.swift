/// Why a podcast's feed is to be fetched.
package enum RefreshCause: Sendable {
  /// Somebody looks into it: fetched unless it was before.
  case firstLook
  /// Somebody may look into it next: as `firstLook`, but behind what somebody waits for.
  case ahead
  /// Somebody looks, or its time has come: fetched where a refresh is due and no other process is at it, behind what
  /// somebody waits for.
  case due
  /// Somebody asks for it: fetched, due or not, unless the server has asked to wait.
  case forced
}

/// What a refresh has brought.
package struct RefreshOutcome: Hashable, Sendable {
  /// The episodes that were not known before, in the order of their publication.
  package var newEpisodes: [Int64] = []
  /// How many known ones the feed describes otherwise than before.
  package var changedCount = 0

  /// Nothing was fetched, or nothing new came.
  package static let unchanged = RefreshOutcome()
}
