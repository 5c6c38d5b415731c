internal import PosixKit

/// Tells somebody who looks into a podcast, and may open an episode next, from a program that goes through them all (`find`,
/// an indexer): for that no daemon need begin.
struct Looks {
  /// Folders that have been looked into since the moment began; nil where none has.
  private var folders: Set<NodeID>?
  /// When a program last went through many.
  private var lastWalk: MonotonicTime?
  /// In seconds: shorter than people need to choose an episode, longer than a program stays in a folder.
  static let moment = 0.25
  /// Seconds in which what follows on a walk is its end.
  private static let pause = 2.0
  /// A file manager's two panes are no walk.
  private static let most = 2

  /// - Returns: whether a moment begins, at whose end `take` is to be asked.
  mutating func note(_ folder: NodeID) -> Bool {
    defer { folders = (folders ?? []).union([folder]) }
    return folders == nil
  }

  /// Ends the moment.
  /// - Returns: whether somebody may open an episode.
  mutating func take(at now: MonotonicTime) -> Bool {
    defer { folders = nil }
    guard let count = folders?.count else { return false }
    if count > Self.most { lastWalk = now }
    return lastWalk.map { now.seconds(since: $0) > Self.pause } ?? true
  }
}
