internal import Catalog
internal import PodcastModel
internal import PosixKit

enum SearchCommand: Command {
  static let usage = """
    podcastfs search [--json] [--limit N] [--country CC] WORDS…|ADDRESS

    Lists the podcasts found, the best first, with numbers that podcastfs subscribe takes. * marks those that you follow. WORDS
    may have country:de, limit:20, lang:de and source:local, as the name of a folder in Search/ may. ADDRESS is a feed's or
    a page's, or a link of Apple or another player.

      --limit N      how many results at most, 1 to 200
      --country CC   the country to search in, two letters
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let options = [
      try arguments.takeValue("--limit").map { "search_limit=\($0)" },
      try arguments.takeValue("--country").map { "country=\($0)" },
    ].compactMap(\.self)
    let query = try arguments.operands().joined(separator: " ")
    let session = try CatalogSession(options: options)
    LastSearch.store(query, nil, in: session.places)
    let answer = try session.wait { session.catalog.find(query, completion: $0) }
    LastSearch.store(
      query,
      answer.podcasts.map { podcast in
        LastSearch.Result(
          title: podcast.title, shown: podcast.feedURL.shown(isListed: podcast.isListed),
          address: podcast.feedURL.forRequest, mayBePrivate: answer.mayBePrivate(podcast))
      }, in: session.places)
    let followed = try answer.podcasts.map {
      try session.catalog.subscription(feedURL: $0.feedURL.forRequest) != nil
    }
    StandardStreams.show(json(answer, followed, query)) { show(answer, followed, query, session) }
  }

  private static func show(
    _ answer: MergedAnswer, _ followed: [Bool], _ query: String, _ session: CatalogSession
  ) {
    let width = String(answer.podcasts.count).count
    for (place, podcast) in answer.podcasts.enumerated() {
      let number = ColumnText.right("\(place + 1)", width) + (followed[place] ? "* " : "  ")
      StandardStreams.tell(
        number + text(podcast, width + 2, now: session.catalog.now), hanging: width + 2)
    }
    if answer.podcasts.isEmpty {
      StandardStreams.complain("nothing found for \(PrintableText.line(query))")
    } else if Terminal.output.isTerminal {
      let mark = followed.contains(true) ? " (* is followed already)" : ""
      StandardStreams.tell("podcastfs subscribe NUMBER follows a podcast\(mark)")
    }
  }

  private static func json(_ answer: MergedAnswer, _ followed: [Bool], _ query: String) -> JSONValue {
    .members([
      "query": query, "source": answer.source,
      "results": zip(answer.podcasts, followed).map { podcast, isFollowed in
        JSONValue.members([
          "title": podcast.title, "author": podcast.author,
          "feed_url": podcast.feedURL.shown(isListed: podcast.isListed),
          "link": podcast.link?.shown(isListed: podcast.isListed),
          "image": podcast.imageURL?.shown(isListed: podcast.isListed), "language": podcast.language,
          "description": podcast.description, "categories": podcast.categories,
          "episode_count": podcast.episodeCount > 0 ? podcast.episodeCount as Int? : nil,
          "newest": podcast.newest.map(CivilTime.iso8601),
          "followed": isFollowed,
        ])
      },
    ])
  }

  private static func text(_ podcast: FoundPodcast, _ indent: Int, now: Int64) -> String {
    let author = podcast.author.map { " — \($0)" } ?? ""
    let facts = [
      podcast.episodeCount > 0 ? HumanText.count(podcast.episodeCount, "episode") : nil,
      podcast.newest.map { "newest \(HumanText.ago(now - $0))" },
    ].compactMap(\.self)
    return PrintableText.line(podcast.title + author)
      + (facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))") + "\n"
      + String(repeating: " ", count: indent) + podcast.feedURL.shown(isListed: podcast.isListed)
  }
}
