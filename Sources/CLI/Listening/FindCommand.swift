internal import Catalog
internal import PodcastModel
internal import PosixKit

/// `podcastfs find`.
enum FindCommand: Command {
  static let name = "find"
  static let summary = "find episodes among all that are known"
  static let usage = """
    podcastfs find [--json] [--play N] QUERY…

    Shows the episodes that a query selects, without the network: their paths where something is mounted, else their shows and
    titles. Words are looked for in titles and notes. Further words, as in the name of a directory under Search/:

      is:STATE          unplayed, started, played, cached, kept, followed, queued; -is: for the opposite
      newer:7d, older:2026-01-31
                        when they were published: an age (12h, 7d, 3w, 2m, 1y) or a date
      shorter:30m, longer:1h
                        how long they are
      show:TITLE, person:NAME, season:2
                        quotation marks hold words together: show:"harbour lights"
      sort:ORDER        newest, oldest, title, shortest
      limit:N           1,000 at most

      --json     [{"path", "show", "title", "published", "duration", "played", "position", "state"}]
      --play N   play the Nth of them: with mpv, else with the desktop's player
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isJSON = arguments.takeFlag("--json")
    let chosen = try arguments.takeNumber("--play", in: 1...EpisodeQuery.largestLimit)
    let opposites = arguments.takeWords(beginningWith: "-is:")
    let words = try arguments.operands() + opposites
    if words.isEmpty { throw UsageError("find which episodes?") }
    let query = try query(words)
    let session = try CatalogSession()
    defer { session.settle() }
    let found = try KnownEpisodes(session).selected(by: query)
    if let chosen { return try play(found, chosen) }
    if isJSON {
      StandardStreams.print(JSONValue.array(found.map { $0.json() }).indentedText)
    } else {
      for episode in found { StandardStreams.print(episode.path.map(PrintableText.line) ?? episode.text) }
      if found.isEmpty { StandardStreams.complain("no known episode matches") }
    }
    return found.isEmpty && !isJSON ? 1 : 0
  }

  /// A shell has taken the quotation marks away: a word with a blank in it gets them back.
  private static func query(_ words: [String]) throws -> EpisodeQuery {
    let quoted = words.map { word -> String in
      guard words.count > 1, word.contains(where: \.isWhitespace), !word.contains("\"") else { return word }
      guard let colon = word.firstIndex(of: ":") else { return "\"\(word)\"" }
      return "\(word[...colon])\"\(word[word.index(after: colon)...])\""
    }
    let text = quoted.joined(separator: " ")
    do {
      guard let query = try EpisodeQuery(parsing: "episode: " + text) else { throw UsageError("no query") }
      return query
    } catch let error as EpisodeQuery.Malformed {
      throw UsageError(PrintableText.line("\(error)"))
    }
  }

  private static func play(_ found: [KnownEpisodes.One], _ chosen: Int) throws -> Int32 {
    guard found.indices.contains(chosen - 1) else {
      throw CommandFailure("there are only \(HumanText.count(found.count, "episode"))")
    }
    guard let path = found[chosen - 1].path else {
      throw CommandFailure("no mount shows it: podcastfs mount")
    }
    guard let player = ["mpv", "xdg-open"].lazy.compactMap({ ChildProcess.find($0) }).first else {
      throw CommandFailure("there is no player: \(path)")
    }
    let process = try ChildProcess.start(player, [path], files: [0, 1, 2], isDetached: false)
    return try ChildProcess.wait(process)
  }
}
