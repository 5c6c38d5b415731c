internal import PosixKit

/// An episode that a player has open, and where it is in it. A value: the player's words and the time go in.
struct PlayedEpisode: Hashable {
  let path: String
  /// Seconds; nil where the player does not know it.
  let length: Double?
  /// Seconds at `time`.
  private var position: Double
  private var time: MonotonicTime
  private(set) var isPlaying = false
  private var rate = 1.0
  /// What was stored last; before that, what the episode had when the player opened it.
  private(set) var stored: Double
  /// Whether the player has been asked to go on where the episode was left.
  private var hasResumed = false
  /// Until then the player may still say where it was before it was sent.
  private var settles: MonotonicTime?

  /// So near its end, in seconds, players end an episode, and positions that are so close are the same.
  static let (margin, least) = (2.0, 1.0)
  /// A player that is so near the start has just opened the episode.
  private static let start = 5.0
  /// Seconds that a player has to go where it is sent.
  private static let settling = 3.0

  init(_ path: String, length: Double?, stored: Double, at now: MonotonicTime) {
    (self.path, self.length, self.stored, time) = (path, length, stored, now)
    position = 0
  }

  mutating func moved(to seconds: Double, at now: MonotonicTime) {
    if let settles, now < settles, seconds < Self.start { return }
    (position, time) = (max(seconds, 0), now)
  }

  mutating func played(_ isPlaying: Bool, rate: Double?, at now: MonotonicTime) {
    (position, time) = (place(at: now), now)
    self.isPlaying = isPlaying
    if let rate, rate > 0 { self.rate = rate }
  }

  /// Where the player is by now: its last word, and the time since.
  func place(at now: MonotonicTime) -> Double {
    let place = isPlaying ? position + now.seconds(since: time) * rate : position
    return min(place, length ?? place)
  }

  /// Where the player is to be sent, once: the episode was left there, and the player has begun at its start.
  mutating func takeResumption(at now: MonotonicTime) -> Double? {
    guard isPlaying, !hasResumed else { return nil }
    hasResumed = true
    guard stored > Self.start, place(at: now) < Self.start else { return nil }
    moved(to: stored, at: now)
    settles = now.adding(Self.settling)
    return stored
  }

  /// What is to be stored, where that is something new.
  /// - Parameter isOver: whether the player is done with it: near the end it has been played to the end.
  mutating func takePosition(at now: MonotonicTime, isOver: Bool = false) -> Double? {
    var place = place(at: now)
    let isWhole = isOver && length.map { $0 - place < Self.margin } ?? false
    if isWhole, let length { place = length }
    // A player that has not begun says nothing of where the episode was left.
    let isAtStart = place < Self.least
    if isAtStart { place = 0 }
    guard hasResumed, isWhole || abs(place - stored) >= Self.least || isAtStart && stored > 0 else {
      return nil
    }
    stored = place
    return place
  }
}
