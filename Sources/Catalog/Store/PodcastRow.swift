internal import PodcastModel
internal import SQLiteKit

/// How a podcast lies in its row.
enum PodcastRow {
  /// For a `FROM podcast p`.
  static let columns = """
    p.id, p.feed_url, p.title, p.name, p.author, p.link, p.language, p.categories, p.description, \
    p.image_url, p.explicit, p.episode_count, p.last_refresh, p.next_refresh, p.error, p.is_private, p.is_listed
    """
  static let count = 17

  /// - Parameter first: the column where `columns` begin.
  static func read(_ row: borrowing Row, from first: Int = 0) -> Podcast {
    var podcast = Podcast(
      id: row.int64(first), feedURL: WebAddress(row.string(first + 1)), title: row.string(first + 2),
      name: row.string(first + 3))
    podcast.author = row.stringIfPresent(first + 4)
    podcast.link = row.stringIfPresent(first + 5).map { WebAddress($0) }
    podcast.language = row.stringIfPresent(first + 6)
    podcast.categories = row.string(first + 7).split(separator: "\n").map(String.init)
    podcast.description = row.stringIfPresent(first + 8)
    podcast.imageURL = row.stringIfPresent(first + 9).map { WebAddress($0) }
    podcast.explicit = row.boolIfPresent(first + 10)
    podcast.episodeCount = row.int(first + 11)
    podcast.lastRefresh = row.int64IfPresent(first + 12)
    podcast.nextRefresh = row.int64IfPresent(first + 13)
    podcast.error = row.stringIfPresent(first + 14)
    podcast.allowsPrivateHosts = row.boolIfPresent(first + 15) ?? false
    podcast.isListed = row.bool(first + 16)
    return podcast
  }

  /// Categories as one text.
  static func joined(_ categories: [String]) -> String? {
    categories.isEmpty ? nil : categories.map { $0.replacing("\n", with: " ") }.joined(separator: "\n")
  }
}
