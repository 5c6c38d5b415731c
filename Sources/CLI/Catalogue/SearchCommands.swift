internal import Catalog
internal import Configuration
internal import FeedKit
internal import Glibc
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

extension Command {
  static let search = Command(
    """
    podcastfs search [--json] [--limit N] [--country CC] WORDS…|ADDRESS

    Lists the podcasts found, the best first, with numbers that podcastfs subscribe takes. * marks those that you follow. WORDS
    may have country:de, limit:20, lang:de and source:local, as the name of a folder in Search/ may. ADDRESS is a feed's or
    a page's, or a link of Apple or another player.

      --limit N      how many results at most, 1 to 200
      --country CC   the country to search in, two letters
    """
  ) { arguments in
    let options = [
      try arguments.takeValue("--limit").map { "search_limit=\($0)" },
      try arguments.takeValue("--country").map { "country=\($0)" },
    ].compactMap(\.self)
    let query = try arguments.operands().joined(separator: " ")
    let session = try CatalogSession(options: options)
    LastSearch.store(query, nil, in: session.places)
    let answer = try session.wait { session.catalog.find(query, completion: $0) }
    let found = try answer.podcasts.map { podcast in
      FoundLine(
        podcast: podcast, now: session.catalog.now,
        isFollowed: try session.catalog.subscription(feedURL: podcast.feedURL.forRequest) != nil)
    }
    let results = found.map { LastSearch.result($0, mayBePrivate: answer.mayBePrivate($0.podcast)) }
    LastSearch.store(query, results, in: session.places)
    StandardStreams.show(.members(["query": query, "source": answer.source, "results": found.map(\.json)])) {
      let width = String(found.count).count
      for (place, line) in found.enumerated() {
        let number = ColumnText.right("\(place + 1)", width) + (line.isFollowed ? "* " : "  ")
        StandardStreams.tell(number + line.text(indent: width + 2), hanging: width + 2)
      }
      if found.isEmpty {
        StandardStreams.complain("nothing found for \(PrintableText.line(query))")
      } else if StandardStreams.outputIsTerminal {
        let mark = found.contains { $0.isFollowed } ? " (* is followed already)" : ""
        StandardStreams.tell("podcastfs subscribe NUMBER follows a podcast\(mark)")
      }
    }
  }
}

struct FoundLine {
  let podcast: FoundPodcast
  let now: Int64
  let isFollowed: Bool
  func shown(_ url: WebAddress) -> String { url.shown(isListed: podcast.isListed) }

  func text(indent: Int) -> String {
    let author = podcast.author.map { " — \($0)" } ?? ""
    let facts = [
      podcast.episodeCount > 0 ? HumanText.count(podcast.episodeCount, "episode") : nil,
      podcast.newest.map { "newest \(HumanText.ago(now - $0))" },
    ].compactMap(\.self)
    return PrintableText.line(podcast.title + author)
      + (facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))") + "\n"
      + String(repeating: " ", count: indent) + shown(podcast.feedURL)
  }

  var json: JSONValue {
    .members([
      "title": podcast.title, "author": podcast.author, "feed_url": shown(podcast.feedURL),
      "link": podcast.link.map(shown), "image": podcast.imageURL.map(shown), "language": podcast.language,
      "description": podcast.description, "categories": podcast.categories,
      "episode_count": podcast.episodeCount > 0 ? podcast.episodeCount as Int? : nil,
      "newest": podcast.newest.map(CivilTime.iso8601), "followed": isFollowed,
    ])
  }
}

/// What the last `search` printed, so that `subscribe` takes its numbers, titles and addresses. A printed address may
/// hide a token that the feed needs.
struct LastSearch {
  private let query: String?
  /// nil before the search ends, and where it failed: numbers then refer to nothing, and not to what an earlier search found.
  private let results: [JSONValue]?
  /// A search prints fewer.
  private static let mostResults = 10_000
  private static func file(in places: Places) -> String { places.state + "/last-search.json" }

  init(in places: Places) {
    let bytes = try? Directories.read(Self.file(in: places), limit: 1 << 20)
    let json = bytes.flatMap { try? JSONValue(parsing: $0) }
    query = json?["query"]?.text
    results = if case .array(let all)? = json?["results"] { all } else { nil }
  }

  static func store(_ query: String, _ results: [JSONValue]?, in places: Places) {
    let json = JSONValue.members(["query": query, "results": results])
    try? Directories.replace(file(in: places), with: Array(json.compactText.utf8))
  }

  static func result(_ line: FoundLine, mayBePrivate: Bool) -> JSONValue {
    .members([
      "title": line.podcast.title, "shown": line.shown(line.podcast.feedURL),
      "feed": line.podcast.feedURL.forRequest, "may_be_private": mayBePrivate,
    ])
  }

  /// Forgets the last search, whose title and address may be those of a podcast that the user forgets.
  static func forget(in places: Places) { unlink(file(in: places)) }

  /// The feed's address that a word means: a number, a title or an address as they were printed, or any address.
  /// - Returns: also whether it counts as typed by the user. What a search service has named does not.
  /// - Throws: `CommandFailure` for a number or a title that was not printed.
  func address(of word: String) throws -> (address: String, isTyped: Bool) {
    let results = results ?? []
    func found(_ result: JSONValue) -> (address: String, isTyped: Bool) {
      let address = result["feed"]?.text ?? ""
      return (address, result["may_be_private"]?.flag == true || address == word)
    }
    if let number = Int(word), number <= Self.mostResults {
      guard results.indices.contains(number - 1) else { throw CommandFailure("\(word): \(missing)") }
      return found(results[number - 1])
    }
    let named = results.first {
      $0["shown"]?.text == word || $0["title"]?.text?.lowercased() == word.lowercased()
    }
    if let named { return found(named) }
    // A greater one is Apple's.
    if word.utf8.allSatisfy({ (48...57).contains($0) }) { return ("id:\(word)", true) }
    if word.hasPrefix("/"), !word.hasPrefix("//") { _ = try MountedFile.status(at: word) }
    guard !SubscriptionAddress.typed(word).isEmpty || word.contains(":") else {
      throw CommandFailure(
        "\(word): not a feed address, and not a title of the last search: podcastfs search \(word)")
    }
    return (word, true)
  }

  private var missing: String {
    guard let query else { return "nothing was searched for yet: podcastfs search WORDS" }
    let outcome =
      results.map { $0.isEmpty ? "found nothing" : "printed \(HumanText.count($0.count, "result"))" }
      ?? "failed"
    return "the last search (\(PrintableText.line(query))) \(outcome): podcastfs search WORDS"
  }
}

extension Command {
  static let feed = Command(
    """
    podcastfs feed [--json] FEED-URL|FILE

    Shows how podcastfs reads a feed: the podcast, its episodes with the names that they would get, and warnings for what was
    repaired or left out. It stores nothing.
    """
  ) { arguments in
    let report = try report(on: arguments.operands()[0])
    StandardStreams.show(report.json) { StandardStreams.tell(report.text, hanging: 2) }
  }

  private static func report(on source: String) throws -> FeedReport {
    // A mere name is a file that is not there.
    let mayBeAddress = source.contains { ":/".contains($0) } && !Directories.exists(source)
    do {
      let addresses = mayBeAddress ? SubscriptionAddress.typed(source) : []
      guard let last = addresses.last else { return try report(FeedBody(file: source), from: nil, nil) }
      for address in addresses.dropLast() {
        if let report = try? report(at: address) { return report }
      }
      return try report(at: last)
    } catch FeedError.storage(let error) {
      let words = error.description
      throw words.contains(source) ? CommandFailure(words) : CommandFailure(of: source, error)
    } catch let error as FeedError { throw CommandFailure("\(WebAddress(source).shown) \(error)") }
  }

  private static func report(at url: WebAddress) throws -> FeedReport {
    var request = HTTPRequest(url: url.forRequest, try CommandSettings.load().settings)
    request.allowsPrivateHosts = true
    request.acceptsCompression = true
    request.decompresses = false
    request.maximumBody = Int64(FeedLimits().document)
    guard let result = Waiting.answer(to: request, within: 300) else {
      throw CommandFailure("no answer within five minutes")
    }
    let response = try result.get()
    guard (200..<300).contains(response.head.status) else {
      throw CommandFailure(HTTPStatus.text(response.head.status, from: url.host ?? "the host"))
    }
    return try report(FeedBody(response.body), from: url, response.head)
  }

  private static func report(
    _ body: FeedBody, from url: WebAddress?, _ head: HTTPResponseHead?
  ) throws -> FeedReport {
    let feed = try FeedReader.program().parse(
      body, baseURL: head.map { WebAddress($0.effectiveURL) }, httpCharset: head?.charset)
    return FeedReport(feed: feed, feedURL: url, now: wallClockSeconds())
  }
}
