internal import Catalog
internal import PodcastModel

enum SubscribeCommand: Command {
  static let name = "subscribe"
  static let summary = "follow podcasts"
  static let usage = """
    podcastfs subscribe [--json] [--quiet] FEED-URL|LINK|NUMBER|TITLE|FOLDER…

    Follows podcasts: each becomes a folder in Subscriptions/. Nothing changes where you follow one already. NUMBER and TITLE
    are from the last podcastfs search; a NUMBER above 10000 is Apple's. FOLDER is a podcast's in Search/ or Discover/.
    FEED-URL may begin with feed:, pcast: or itpc:, or be a web page that names its feed. LINK is one to Apple Podcasts, Podcast Index, AntennaPod, Overcast, Pocket Casts or
    subscribeonandroid.com.

      --json   [{"name", "title", "feed_url", "error"}]
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let words = try arguments.operands(1..., "subscribe takes an address, a number or a title")
    let session = try CatalogSession()
    defer { session.settle() }
    let found = LastSearch(in: session.places)
    var outcomes: [JSONValue] = []
    var podcasts: [(name: String, id: Int64)] = []
    let status = words.forEachReporting { word in
      do {
        let listed = try session.follow(folderAt: word) ?? follow(word, found, session)
        podcasts.append((listed.name, listed.podcast.id))
        if !isJSON { StandardStreams.report(listed.name) }
        let shown = listed.podcast.feedURL.shown(isListed: listed.podcast.isListed)
        outcomes.append(
          .members([
            "name": listed.name, "title": listed.podcast.title, "feed_url": shown, "error": JSONValue.null,
          ]))
      } catch {
        outcomes.append(
          .members([
            "name": JSONValue.null, "title": JSONValue.null, "feed_url": WebAddress(word).shown,
            "error": "\(error)",
          ]))
        throw words.count == 1 ? error : CommandFailure(of: WebAddress(word).shown, error)
      }
    }
    if isJSON { StandardStreams.print(JSONValue.array(outcomes).indentedText) }
    try session.reportMissing(podcasts)
    return status
  }

  private static func follow(_ word: String, _ found: LastSearch, _ session: CatalogSession) throws
    -> ListedPodcast
  {
    let (address, isTyped) = try found.address(of: word)
    return try session.follow(address, isTyped: isTyped).listed
  }
}

enum UnsubscribeCommand: Command {
  static let name = "unsubscribe"
  static let summary = "stop following podcasts"
  static let usage = """
    podcastfs unsubscribe NAME|FEED-URL…

    Stops following podcasts. NAME is the name of a folder in Subscriptions/, or a podcast's title. Downloads stay until the
    cache needs the room.
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let names = try arguments.operands(1..., "unsubscribe takes the name of a podcast")
    let session = try CatalogSession()
    defer { session.settle() }
    return names.forEachReporting { name in
      // A podcast that is known and not followed needs no change.
      let podcast = try session.knownPodcast(name)
      if let listed = try session.catalog.subscriptions().first(where: { $0.podcast.id == podcast }) {
        try session.catalog.unsubscribe(listed.id)
      }
    }
  }
}

extension [String] {
  /// Calls `body` for each operand. Writes each failure to standard error, and goes on with the next operand.
  /// - Returns: the exit status.
  func forEachReporting(_ body: (String) throws -> Void) -> Int32 {
    var status: Int32 = 0
    for item in self {
      do { try body(item) } catch {
        StandardStreams.complain("\(error)")
        status = 1
      }
    }
    return status
  }
}
