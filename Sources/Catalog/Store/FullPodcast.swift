internal import SQLiteKit

/// A podcast that has as many episodes as there are numbers for (`EpisodeID`).
enum FullPodcast {
  /// Says of such a podcast that what is more is left out, where nothing else is amiss.
  static func tell(_ podcast: Int64, in database: Database) throws {
    try database.run(
      "UPDATE podcast SET error = ? WHERE id = ? AND next_episode > ? AND error IS NULL", message, podcast,
      EpisodeID.last)
  }

  private static let message =
    "it has had \(EpisodeID.last) episodes, more than are kept: newer ones are left out"
}
