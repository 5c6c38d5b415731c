internal import Catalog
internal import PodcastModel
internal import PosixKit

enum RefreshCommand: Command {
  static let usage = """
    podcastfs refresh [--json] [--quiet] [PATH…]

    Fetches the feeds of all subscriptions now. With PATH, only those: a podcast's folder, an episode, or the name or address
    of a subscription.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let paths = try arguments.operands()
    let session = try CatalogSession()
    defer { session.settle() }
    let feeds: [Feed] =
      paths.isEmpty
      ? try session.catalog.subscriptions().map { ($0.name, $0.podcast.id) }
      : paths.map { ($0, nil) }
    var outcomes: [JSONValue] = feeds.map { _ in .null }
    var refreshed: [(name: String, id: Int64)] = []
    // A slow feed does not hold up the others.
    Waiting.each(feeds, atOnce: 8) { feed in
      Result { try refresh(feed, session) }
    } ended: { place, result in
      switch result {
      case .success(let (name, podcast, count)):
        refreshed.append((name, podcast))
        StandardStreams.report("\(name): \(count) new")
        outcomes[place] = .members(["name": name, "new_episodes": count, "error": JSONValue.null])
      case .failure(let error):
        StandardStreams.complain("\(error)")
        outcomes[place] = .members([
          "name": WebAddress(feeds[place].name).shown, "new_episodes": JSONValue.null, "error": "\(error)",
        ])
      }
    }
    StandardStreams.show(.array(outcomes)) { if feeds.isEmpty { ListCommand.tellNothingIsFollowed() } }
    try session.reportMissing(refreshed)
    if refreshed.count < feeds.count { throw CommandEnd() }
  }

  /// No podcast where the user named it.
  private typealias Feed = (name: String, podcast: Int64?)

  private static func refresh(
    _ feed: Feed, _ session: CatalogSession
  ) throws -> (name: String, podcast: Int64, newEpisodes: Int) {
    let shown = WebAddress(feed.name).shown
    do {
      let podcast = try feed.podcast ?? session.knownPodcast(feed.name, takesEpisodes: true)
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
}
