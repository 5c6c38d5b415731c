/// An episode that a player has open, and where it is in it. A value: the player's words go in. Positions are in seconds.
struct PlayedEpisode: Hashable {
  let path: String
  var isPlaying = false
  private var position = 0.0
  /// What was stored last; before that, what the episode had when the player opened it.
  private var stored: Double
  private var resumption = Resumption.isDue

  private enum Resumption {
    case isDue
    /// The player has been sent to where the episode was left, and may still say where it was before.
    case isAwaited
    case isOver
  }

  /// A player that is so near the start has just opened the episode.
  private static let start = 5.0
  /// Positions that are so close are the same.
  private static let least = 1.0

  init(_ path: String, stored: Double) { (self.path, self.stored) = (path, stored) }

  mutating func moved(to seconds: Double) {
    if resumption == .isAwaited {
      if seconds < Self.start { return }
      resumption = .isOver
    }
    position = max(seconds, 0)
  }

  /// Where the player is to be sent, once: the episode was left there, and the player has begun at its start.
  mutating func takeResumption() -> Double? {
    guard isPlaying, resumption == .isDue else { return nil }
    resumption = .isOver
    guard stored > Self.start, position < Self.start else { return nil }
    (position, resumption) = (stored, .isAwaited)
    return stored
  }

  /// What is to be stored, where that is something new. A player that has not begun says nothing of it.
  mutating func takePosition() -> Double? {
    let place = position < Self.least ? 0 : position
    guard resumption != .isDue, abs(place - stored) >= Self.least || place == 0 && stored > 0 else {
      return nil
    }
    stored = place
    return place
  }
}
