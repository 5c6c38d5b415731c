internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit

enum SearchCommand: Command {
  static let name = "search"
  static let summary = "search for podcasts"
  static let usage = """
    podcastfs search [--json] [--limit N] [--country CC] WORDS…|ADDRESS

    Lists the podcasts found, the best first, with numbers that podcastfs subscribe takes. * marks those that you follow. WORDS
    may have country:de, limit:20, lang:de and source:local, as the name of a folder in Search/ may. ADDRESS is a feed's or
    a page's, or a link of Apple or another player.

      --limit N      how many results at most, 1 to 200
      --country CC   the country to search in, two letters
      --json         {"query", "source", "results": [{"title", "author", "feed_url", "link", "image",
                     "language", "description", "categories", "episode_count", "newest", "followed"}]}, null for what is unknown
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let isJSON = arguments.takeFlag("--json")
    let limit = try arguments.takeNumber("--limit", in: 1...200)
    let country = try arguments.takeValue("--country")
    if let country,
      country.utf8.count != 2 || !country.utf8.allSatisfy({ $0 | 0x20 >= 97 && $0 | 0x20 <= 122 })
    {
      throw UsageError("--country takes two letters, not \"\(country)\"")
    }
    let words = try arguments.operands(1..., "search takes the words to search for")
    let query = words.joined(separator: " ")
    let session = try CatalogSession { settings in
      if let limit { settings.searchLimit = limit }
      if let country { settings.country = country.lowercased() }
    }
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
    if isJSON {
      StandardStreams.print(json(answer, followed, query).indentedText)
      return 0
    }
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
    return 0
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
