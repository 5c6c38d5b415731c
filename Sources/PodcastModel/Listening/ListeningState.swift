/// What a listener did with an episode.
package struct ListeningState: Hashable, Sendable {
  /// How far the listener is, in milliseconds; 0 at the start, and where the episode is played.
  package private(set) var position: Int64 = 0
  package private(set) var isPlayed = false
  /// When a position or a played mark was set last, in seconds since 1970; nil where never.
  package private(set) var lastPlayed: Int64?
  /// When anything here changed last, in seconds since 1970; nil where never. Synchronization compares it.
  package private(set) var changed: Int64?

  package init() {}

  package init(position: Int64, isPlayed: Bool, lastPlayed: Int64?, changed: Int64?) {
    (self.position, self.isPlayed, self.lastPlayed) = (position, isPlayed, lastPlayed)
    self.changed = changed
  }

  /// The same, with another time of the last playing.
  /// - Parameter time: seconds since 1970; 0 for never, nil for the one that it has.
  package func with(lastPlayed time: Int64?) -> ListeningState {
    var state = self
    if let time { state.lastPlayed = time > 0 ? time : nil }
    return state
  }

  /// Sets how far the listener is. Near the end, the episode becomes played.
  /// - Parameters:
  ///   - milliseconds: from the start; 0 forgets the position.
  ///   - duration: of the episode, in seconds; nil where unknown.
  ///   - margin: how many seconds before the end count as the end: a shorter episode has no other position.
  ///   - now: seconds since 1970.
  package mutating func setPosition(_ milliseconds: Int64, duration: Int?, margin: Int, now: Int64) {
    if let duration, milliseconds > 0, milliseconds >= Int64(duration - margin) * 1000 {
      return setPlayed(true, now: now)
    }
    position = max(0, milliseconds)
    if position > 0 { lastPlayed = now }
    changed = now
  }

  /// Marks the episode as played or not. A played episode has no position.
  package mutating func setPlayed(_ isPlayed: Bool, now: Int64) {
    self.isPlayed = isPlayed
    if isPlayed {
      position = 0
      lastPlayed = now
    }
    changed = now
  }
}
