internal import Catalog
internal import PodcastModel

enum SubscribeCommand: Command {
  static let usage = """
    podcastfs subscribe [--linked] [--json] [--quiet] FEED-URL|LINK|NUMBER|TITLE|FOLDER…

    Follows podcasts: each becomes a folder in Subscriptions/. Nothing changes where you follow one already. NUMBER and TITLE
    are from the last podcastfs search; a NUMBER above 10000 is Apple's. FOLDER is a podcast's in Search/ or Discover/.
    FEED-URL may begin with feed:, pcast: or itpc:, or be a web page that names its feed. LINK is one to Apple Podcasts, Podcast Index, AntennaPod, Overcast, Pocket Casts or
    subscribeonandroid.com.

      --linked  a web page named the address: it may not lead to a private network
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let isLinked = arguments.takeFlag("--linked")
    let words = try arguments.operands()
    let session = try CatalogSession()
    defer { session.settle() }
    let found = LastSearch(in: session.places)
    var outcomes: [JSONValue] = []
    var podcasts: [(name: String, id: Int64)] = []
    let end = Result {
      try words.forEachReporting { word in
        let shown = WebAddress(word).shown
        do {
          let listed = try session.follow(folderAt: word) ?? follow(word, found, session, isLinked: isLinked)
          podcasts.append((listed.name, listed.podcast.id))
          StandardStreams.report(listed.name)
          outcomes.append(
            outcome(listed.podcast.feedURL.shown(isListed: listed.podcast.isListed), listed, nil))
        } catch {
          outcomes.append(outcome(shown, nil, "\(error)"))
          throw words.count == 1 ? error : CommandFailure(of: shown, error)
        }
      }
    }
    StandardStreams.show(.array(outcomes)) {}
    try session.reportMissing(podcasts)
    try end.get()
  }

  private static func follow(
    _ word: String, _ found: LastSearch, _ session: CatalogSession, isLinked: Bool
  ) throws -> ListedPodcast {
    let (address, isTyped) = try found.address(of: word)
    return try session.follow(address, isTyped: isTyped && !isLinked).listed
  }

  private static func outcome(_ address: String, _ listed: ListedPodcast?, _ error: String?) -> JSONValue {
    .members(["name": listed?.name, "title": listed?.podcast.title, "feed_url": address, "error": error])
  }
}

enum UnsubscribeCommand: Command {
  static let usage = """
    podcastfs unsubscribe NAME|FEED-URL…

    Stops following podcasts. NAME is the name of a folder in Subscriptions/, or a podcast's title. Downloads stay until the
    cache needs the room.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    try CatalogSession.forEach(arguments) { name, session in
      // A podcast that is known and not followed needs no change.
      let podcast = try session.knownPodcast(name)
      if let listed = try session.catalog.subscriptions().first(where: { $0.podcast.id == podcast }) {
        try session.catalog.unsubscribe(listed.id)
      }
    }
  }
}
