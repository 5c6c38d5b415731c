internal import Catalog
internal import PodcastModel

/// `podcastfs list`.
enum ListCommand: Command {
  static let name = "list"
  static let summary = "show what is followed"
  static let usage = """
    podcastfs list [--json]

    Shows the podcasts that are followed, with their feeds' addresses (without credentials).

      --json   [{"name", "title", "author", "feed_url", "episode_count", "last_refresh", "next_refresh",
               "error"}]
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isJSON = arguments.takeFlag("--json")
    guard try arguments.operands().isEmpty else { throw UsageError("list takes no operands") }
    let subscriptions = try CatalogSession().catalog.subscriptions()
    if isJSON {
      StandardStreams.print(JSONValue.array(subscriptions.map(json)).indentedText)
    } else {
      for listed in subscriptions {
        let error = listed.podcast.error.map { "\n    \($0)" } ?? ""
        StandardStreams.print(
          "\(listed.name)\n    \(listed.podcast.feedURL.shown(isListed: listed.podcast.isListed))\(error)")
      }
    }
    return 0
  }

  private static func json(_ listed: ListedPodcast) -> JSONValue {
    let podcast = listed.podcast
    return .object([
      ("name", .string(listed.name)), ("title", .string(podcast.title)),
      ("author", .optional(podcast.author)),
      ("feed_url", .string(podcast.feedURL.shown(isListed: podcast.isListed))),
      ("episode_count", .integer(Int64(podcast.episodeCount))),
      ("last_refresh", .optional(podcast.lastRefresh.map(CivilTime.iso8601))),
      ("next_refresh", .optional(podcast.nextRefresh.map(CivilTime.iso8601))),
      ("error", .optional(podcast.error)),
    ])
  }
}
