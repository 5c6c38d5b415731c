internal import Catalog
internal import PodcastModel
internal import PosixKit

enum RefreshCommand: Command {
  static let name = "refresh"
  static let summary = "fetch feeds now"
  static let usage = """
    podcastfs refresh [--json] [--quiet] [PATH…]

    Fetches the feeds of all subscriptions now. With PATH, only those: a podcast's folder, an episode, or the name or address
    of a subscription.

      --json   [{"name", "new_episodes", "error"}]
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let paths = try arguments.operands()
    let session = try CatalogSession()
    defer { session.settle() }
    let feeds = try feeds(paths, session)
    var outcomes: [JSONValue] = feeds.map { _ in .null }
    var refreshed: [(name: String, id: Int64)] = []
    var status: Int32 = 0
    // A slow feed does not hold up the others.
    Waiting.each(feeds, atOnce: 8) { feed in
      Result { try refresh(feed, session) }
    } ended: { place, result in
      switch result {
      case .success(let (name, podcast, count)):
        refreshed.append((name, podcast))
        if !isJSON { StandardStreams.report("\(name): \(count) new") }
        outcomes[place] = outcome(name, newEpisodes: count, error: nil)
      case .failure(let error):
        StandardStreams.complain("\(error)")
        outcomes[place] = outcome(feeds[place].name, newEpisodes: nil, error: "\(error)")
        status = 1
      }
    }
    if isJSON {
      StandardStreams.print(JSONValue.array(outcomes).indentedText)
    } else if feeds.isEmpty {
      ListCommand.tellNothingIsFollowed()
    }
    try session.reportMissing(refreshed)
    return status
  }

  private struct Feed: Sendable {
    var name: String
    /// nil where the user named the podcast himself.
    var subscription: ListedPodcast?
  }

  private static func feeds(_ paths: [String], _ session: CatalogSession) throws -> [Feed] {
    paths.isEmpty
      ? try session.catalog.subscriptions().map { Feed(name: $0.name, subscription: $0) }
      : paths.map { Feed(name: $0) }
  }

  private static func refresh(
    _ feed: Feed, _ session: CatalogSession
  ) throws -> (name: String, podcast: Int64, newEpisodes: Int) {
    let shown = WebAddress(feed.name).shown
    do {
      let podcast = try feed.subscription?.podcast.id ?? session.knownPodcast(feed.name, takesEpisodes: true)
      let outcome = try session.wait {
        session.catalog.refresh(podcast: podcast, cause: .forced, completion: $0)
      }
      // The feed's title may have given the folder another name.
      let followed = try session.catalog.subscriptions().first { $0.podcast.id == podcast }?.name
      let name = try followed ?? session.catalog.podcast(podcast)?.title
      return (name ?? shown, podcast, outcome.newEpisodes.count)
    } catch let error as CatalogError {
      throw CommandFailure("\(shown): \(error)")
    }
  }

  private static func outcome(_ name: String, newEpisodes: Int?, error: String?) -> JSONValue {
    .members(["name": WebAddress(name).shown, "new_episodes": newEpisodes, "error": error])
  }
}
