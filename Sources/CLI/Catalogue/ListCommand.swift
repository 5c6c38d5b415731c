internal import Catalog
internal import PodcastModel
internal import PosixKit

enum ListCommand: Command {
  static let name = "list"
  static let summary = "show what is followed"
  static let usage = """
    podcastfs list [--json|--names]

    Shows the podcasts that are followed, with how many episodes they have, when they were refreshed last, and their
    feeds' addresses (without credentials).

      --names  nothing but the names, for scripts and completions

      --json   [{"name", "title", "author", "feed_url", "episode_count", "last_refresh", "next_refresh",
               "error"}]
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isJSON = arguments.takeFlag("--json")
    let onlyNames = arguments.takeFlag("--names")
    guard try arguments.operands().isEmpty else { throw UsageError("list takes no arguments") }
    let subscriptions = try CatalogSession().catalog.subscriptions()
    if isJSON {
      StandardStreams.print(JSONValue.array(subscriptions.map(json)).indentedText)
    } else if onlyNames {
      for listed in subscriptions { StandardStreams.print(listed.name) }
    } else {
      for listed in subscriptions { StandardStreams.tell(text(listed), hanging: 2) }
    }
    return 0
  }

  private static func text(_ listed: ListedPodcast) -> String {
    let podcast = listed.podcast
    let refreshed = podcast.lastRefresh.map { "refreshed \(CivilTime.iso8601($0))" } ?? "not fetched yet"
    let facts = "\(HumanText.count(podcast.episodeCount, "episode")), \(refreshed)"
    let lines = [
      facts, podcast.feedURL.shown(isListed: podcast.isListed), podcast.error.map(PrintableText.line),
    ].compactMap { $0 }
    return ([listed.name] + lines.map { "    " + $0 }).joined(separator: "\n")
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
